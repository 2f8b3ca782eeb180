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
#include "snapshot.h"
#include "workers.h"

#define CONTROL_STACK	(256u << 10)	/* bytes of the thread's stack */
#define CHECK_MS		1000	/* ms between checks of file size and socket */

static ControlOptions options;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Process that has called control_start. Atomic; changed with the lock held. */
static pid_t pid;
static char *bound;		/* path of the socket; NULL: none */
static char *rundir;		/* value of the environment variable XDG_RUNTIME_DIR, or NULL */

/* Returns the socket's path, which the caller frees; NULL if out of memory. The default depends on
   the current effective user. */
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

/* Ends the profile's current file and continues the profile in a new file. If the profile is a
   flight recorder, writes its content to a new file instead. The path of the new file is made from
   the option 'out' and the number of the file. */
static void change (void) {
  char err[1024], path[PATH_MAX];
  if (process_isring()) {
    if (process_dump(NULL, path, sizeof(path), err, sizeof(err))) keptfiles_add(path);
    /* no message if the process is ending: then the thread that ends it writes the file */
    else if (!dying_hasbegun()) complain("%s", err);
    return;
  }
  keptfiles_current();
  if (!process_switch(NULL, NULL, 0, err, sizeof(err))) complain("%s", err);
  keptfiles_current();
}

/* }===================================================================== */

/* Returns 1 if the profile can continue in another file: no recording runs, the process is not
   ending, and the current file has data or could not be created. A flight recorder has no current
   file, so the last condition does not apply to it. */
static int ischangeable (void) {
  ProcessStats s;
  if (dying_hasbegun()) return 0;
  process_stats(&s);
  return requests_due() == 0 && (s.bytes > 0 || s.failed || process_isring());
}

/* Creates the socket and returns its descriptor. On failure returns -1 with errno, and prints a
   message unless 'silent'. */
static int openserver (int silent) {
  char why[256];
  int fd = server_open(bound, *options.listen == '\0', why, sizeof(why)), error = errno;
  if (fd < 0 && !silent) complain("cannot listen at '%s': %s", bound, why);
  errno = error;
  return fd;
}

/* Main function of the control thread. 'ud' points to the socket's descriptor or to -1. Frees
   'ud'. */
static void *run (void *ud) {
  int server = *(int *)ud, failed = (server < 0);
  uint64_t due = clock_now() + options.rotate;
  free(ud);
  clients_start();
  for (;;) {
    uint64_t now = clock_now();
    int ms = (options.most > 0 || bound != NULL) ? CHECK_MS : -1;
    /* creates the socket again if there is none, or if the program has closed its descriptor */
    if (bound != NULL && (server < 0 || !server_has(server))) {
      if (server >= 0) server_close(server);
      server = openserver(failed);
      failed = (server < 0);
    }
    if (options.rotate > 0) ms = clients_earlier(due, now, ms);
    if (requests_due() > 0) ms = clients_earlier(requests_due(), now, ms);
    clients_serve(server, ms);
    snapshot_check();
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

static Worker *worker;		/* the control thread; NULL: not running */

/* Removes the socket's file at the end of the process. Async-signal-safe. */
static void gone (void) {
  if (bound != NULL && pid == getpid()) server_unlink(bound);
}

/* Creates the socket, if the option 'listen' is set, and starts the thread. Lock held. */
static void control_start (void) {
  static int isset;
  int error, *fd = malloc(sizeof(*fd));
  char *last = bound;
  sigset_t before;
  if (fd == NULL) return;
  *fd = -1;
  bound = NULL;
  free(last);  /* only now: until 'bound' changes, a signal handler may read it in gone() */
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
  if ((worker = workers_start(run, fd, CONTROL_STACK, &error)) != NULL) return;
  if (error == EPERM)
    complain("cannot listen or rotate files: cannot start a thread: %s; a filter of system calls "
             "(seccomp) forbids clone3: permit clone3", strerror(error));
  else
    complain("cannot listen or rotate files: cannot start a thread; raise the limit of processes "
             "(ulimit -u)");
  gone();
  server_close(*fd);
  free(fd);
}

void control_setup (const ControlOptions *o) {
  const char *run = secure_getenv("XDG_RUNTIME_DIR");
  options = *o;
  if (o->listen != NULL || o->rotate > 0 || o->most > 0) process_controlled(control_ensure);
  if (run != NULL && *run == '/') rundir = strdup(run);
  keptfiles_setup(o->keep);
}

static void control_forked (void) {
  free(worker);  /* the thread exists only in the parent */
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
