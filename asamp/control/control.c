/* SPDX-License-Identifier: MIT */
/* The control thread (control.h). */
#define _GNU_SOURCE
#include "control.h"
#include "clients.h"
#include "keptfiles.h"
#include "requests.h"
#include "server.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "complain.h"
#include "dying.h"
#include "process.h"
#include "workers.h"

#define CONTROL_STACK	(256u << 10)	/* bytes of the thread's stack */
#define CHECK_MS		1000	/* most ms between two checks of the file's size and of the
				   socket's descriptor */

static ControlOptions options;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t pid;		/* the process that called control_start last. Atomic; changed only
				   with 'lock' held */
static char *bound;		/* path of the socket; NULL: none was created */
static char *rundir;		/* value of XDG_RUNTIME_DIR at the start; NULL: not set */


/*
** Returns the socket's path, which the caller frees; NULL if there is not enough memory. The
** default folder is that of the current effective user: a process that has changed its user cannot
** write into the earlier user's folder.
*/
static char *socketpath (void) {
  struct stat s;
  char *to;
  unsigned long number = (unsigned long)getpid();
  int n;
  if (*options.listen != '\0')
    return process_path(options.listen, number, 1, clock_read(CLOCK_REALTIME) / 1000);
  if (rundir != NULL && stat(rundir, &s) == 0 && s.st_uid == geteuid())
    n = asprintf(&to, "%s/asamp/%lu.sock", rundir, number);
  else n = asprintf(&to, "/tmp/asamp-%u/%lu.sock", (unsigned)geteuid(), number);
  return (n < 0) ? NULL : to;
}


/* {== files ============================================================ */

/* Continues the profile in the next file of the pattern, or writes the content of the flight
   recorder, if there is one, into that file. Removes the oldest files beyond the option 'keep'. */
static void change (void) {
  char err[1024], path[PATH_MAX];
  if (process_isring()) {
    if (process_dump(NULL, path, sizeof(path), err, sizeof(err))) keptfiles_add(path);
    /* if the process is ending, the thread that ends it writes the file */
    else if (!dying_hasbegun()) complain("%s", err);
    return;
  }
  keptfiles_current();
  if (!process_switch(NULL, NULL, 0, err, sizeof(err))) complain("%s", err);
  keptfiles_current();
}

/* }===================================================================== */


/*
** Returns 1 if the profile can continue in another file now:
**   - there is no recording
**   - the process is not ending, because nothing would finish the other file
**   - the present file is not empty, or could not be created, or there is a flight recorder
*/
static int ischangeable (void) {
  ProcessStats s;
  if (dying_hasbegun()) return 0;
  process_stats(&s);
  return requests_due() == 0 && (s.bytes > 0 || s.failed || process_isring());
}


/*
** Creates the socket at 'bound' and returns its descriptor. On failure, prints a message on stderr
** unless 'silent' is set, and returns -1. Then errno is EMFILE if too few descriptors are left.
*/
static int openserver (int silent) {
  char why[256];
  int fd = server_open(bound, why, sizeof(why)), error = errno;
  if (fd < 0 && !silent) complain("cannot listen at '%s': %s", bound, why);
  errno = error;
  return fd;
}


/*
** The main function of the control thread. 'ud' is the address of the socket's descriptor, or of
** -1, in a block of malloc that the function frees. Returns only if there is not enough memory.
*/
static void *run (void *ud) {
  int server = *(int *)ud, failed = (server < 0);
  uint64_t due = clock_now() + options.rotate;
  free(ud);
  if (!clients_start()) return NULL;
  for (;;) {
    uint64_t now = clock_now();
    int ms = (options.most > 0 || bound != NULL) ? CHECK_MS : -1;
    /* there is no socket, or the program has closed its descriptor: tries to create the socket
       (CN7) */
    if (bound != NULL && (server < 0 || !server_has(server))) {
      if (server >= 0) server_close(server);
      server = openserver(failed);
      failed = (server < 0);
    }
    if (options.rotate > 0) ms = clients_earlier(due, now, ms);
    if (requests_due() > 0) ms = clients_earlier(requests_due(), now, ms);
    clients_serve(server, ms);
    now = clock_now();
    if (requests_due() > 0 && now >= requests_due()) requests_expire();
    if ((options.rotate > 0 && now >= due) ||
        (options.most > 0 && process_size() > options.most && !process_isring())) {
      if (ischangeable()) change();
      due = now + options.rotate;
    }
  }
  return NULL;
}


static Worker *worker;		/* the control thread; NULL: none */


/* Removes the file of the control socket at the end of the process. Async-signal-safe (dying.h). */
static void gone (void) {
  if (bound != NULL && pid == getpid()) server_unlink(bound);
}


/* Creates the socket, if there is an option for it, and starts the thread. 'lock' is held. */
static void control_start (void) {
  static int isset;
  int error, *fd = malloc(sizeof(*fd));
  sigset_t before;
  if (fd == NULL) return;
  *fd = -1;
  free(bound);
  bound = NULL;
  if (options.listen != NULL) {
    if (!isset++) atexit(gone);
    dying_watch(DYING_ATONCE, gone);
    dying_hold(&before);
    bound = socketpath();
    if (bound != NULL && *options.listen == '\0') server_sweep(bound);
    if (bound != NULL && (*fd = openserver(0)) < 0 && errno != EMFILE) {
      free(bound);
      bound = NULL;
    }
    dying_release(&before);
  }
  if ((worker = workers_start(run, fd, CONTROL_STACK, &error)) == NULL)
    complain("cannot listen at '%s': %s", bound != NULL ? bound : "",
             "cannot start a thread for it; raise the limit of processes (ulimit -u)");
}


void control_setup (const ControlOptions *o) {
  const char *run = secure_getenv("XDG_RUNTIME_DIR");
  options = *o;
  if (o->listen != NULL || o->rotate > 0 || o->most > 0) process_controlled(control_ensure);
  if (run != NULL && *run == '/') rundir = strdup(run);
  keptfiles_setup(o->keep);
}


/* Resets the data in the child of a fork, which has no control thread until its control_ensure. */
static void control_forked (void) {
  free(worker);  /* the thread itself exists only in the parent */
  worker = NULL;
  keptfiles_forked();
  server_forked();
  pthread_mutex_init(&lock, NULL);
  requests_forked();
}


static void control_once (void) {
  pthread_atfork(server_forking, server_parted, control_forked);
}


void control_ensure (void) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  if (options.listen == NULL && options.rotate == 0 && options.most == 0) return;
  if (__atomic_load_n(&pid, __ATOMIC_RELAXED) == getpid()) return;
  pthread_once(&control, control_once);
  pthread_mutex_lock(&lock);
  if (pid != getpid()) {
    __atomic_store_n(&pid, getpid(), __ATOMIC_RELAXED);
    control_start();
  }
  pthread_mutex_unlock(&lock);
}
