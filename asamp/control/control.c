/* SPDX-License-Identifier: MIT */
/*
** The thread (control.h).
*/
#define _GNU_SOURCE
#include "control.h"
#include "requests.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "complain.h"
#include "descriptor.h"
#include "process.h"

#define LOOK_MS		1000	/* between two looks at a file's size */

static ControlOptions options;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t pid;		/* of the process that has the thread */
static char *bound;		/* the socket's name, once it is there */


/*
** CN5: the server's descriptor and those of the clients. A fork waits until they are as
** they are told here.
*/
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static int held[CONTROL_CLIENTS + 1];
static size_t nheld;


/* With the lock. */
static int holdfd (int fd) {
  if (fd >= 0) held[nheld++] = fd;
  return fd;
}


static void closefd (int fd) {
  size_t i;
  pthread_mutex_lock(&opening);
  for (i = 0; i < nheld && held[i] != fd; i++) ;
  if (i < nheld) held[i] = held[--nheld];
  close(fd);
  pthread_mutex_unlock(&opening);
}


static int earlier (uint64_t due, uint64_t now, int ms) {
  uint64_t left = (due > now) ? (due - now + 999999) / 1000000 : 0;
  return (ms < 0 || left < (uint64_t)ms) ? (int)(left < INT_MAX ? left : INT_MAX) : ms;
}


/* {== the socket ======================================================= */

void control_default (char *to, size_t size) {
  const char *run = secure_getenv("XDG_RUNTIME_DIR");
  if (run != NULL && *run == '/') snprintf(to, size, "%s/asamp/%%p.sock", run);
  else snprintf(to, size, "/tmp/asamp-%u/%%p.sock", (unsigned)geteuid());
}


/* CN1; NULL, or why not. */
static const char *folderof (const char *path) {
  char folder[PATH_MAX];
  char *slash;
  struct stat s;
  snprintf(folder, sizeof(folder), "%s", path);
  slash = strrchr(folder, '/');
  if (slash == NULL) strcpy(folder, ".");
  else slash[slash == folder] = '\0';
  if (mkdir(folder, 0700) != 0 && errno != EEXIST) return strerror(errno);
  if (lstat(folder, &s) != 0) return strerror(errno);
  if (!S_ISDIR(s.st_mode)) return "what it would be in is no folder";
  if (s.st_uid != geteuid() || (s.st_mode & (S_IWGRP | S_IWOTH)))
    return "its folder is another user's, or others may write there; give one of your own";
  return NULL;
}


static int isdead (const struct sockaddr_un *a) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int dead = fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof(*a)) != 0 &&
             errno == ECONNREFUSED;
  if (fd >= 0) close(fd);
  return dead;
}


/* CN4 */
static void makeroom (const struct sockaddr_un *a) {
  struct stat s;
  if (lstat(a->sun_path, &s) == 0 && S_ISSOCK(s.st_mode) && isdead(a)) unlink(a->sun_path);
}


/* Its descriptor; -1: 'why' is why there is none. */
static int opensocket (const char *path, const char **why) {
  struct sockaddr_un a;
  int fd;
  memset(&a, 0, sizeof(a));
  a.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof(a.sun_path)) {
    *why = "the name of a socket has at most 107 bytes";
    return -1;
  }
  strcpy(a.sun_path, path);
  if ((*why = folderof(path)) != NULL) return -1;
  makeroom(&a);
  descriptor_hold();
  pthread_mutex_lock(&opening);
  fd = holdfd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  pthread_mutex_unlock(&opening);
  descriptor_release();
  if (fd < 0 || fchmod(fd, 0600) != 0 ||
      bind(fd, (const struct sockaddr *)&a, sizeof(a)) != 0 || listen(fd, 16) != 0) {
    *why = strerror(errno);
    if (fd >= 0) closefd(fd);
    return -1;
  }
  return fd;
}


/* CN2 */
static int isfriend (int fd) {
  struct ucred c;
  socklen_t n = sizeof(c);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) == 0 &&
         (c.uid == geteuid() || c.uid == 0);
}


/* Those who have connected, of the thread alone. */
typedef struct Client {
  Request request;
  size_t n;		/* bytes of its line that are there */
  uint64_t heard;	/* when it said something, or came */
} Client;

static struct pollfd *fds;	/* the server's, and behind it the clients' */
static Client **clients;
static size_t nclients;


static int serves (void) {
  fds = malloc((CONTROL_CLIENTS + 1) * sizeof(*fds));
  clients = malloc(CONTROL_CLIENTS * sizeof(*clients));
  nclients = 0;
  return fds != NULL && clients != NULL;
}


static void leave (size_t i) {
  closefd(clients[i]->request.fd);
  free(clients[i]);
  clients[i] = clients[--nclients];
  fds[i + 1] = fds[nclients + 1];
}


/* CN3: who has been silent for longest makes room. */
static void makeplace (void) {
  size_t i, oldest = 0;
  if (nclients < CONTROL_CLIENTS) return;
  for (i = 1; i < nclients; i++)
    if (clients[i]->heard < clients[oldest]->heard) oldest = i;
  leave(oldest);
}


/* What a client has sent. 0: it is to be left. */
static int hear (Client *c) {
  Request *r = &c->request;
  char *end;
  ssize_t m = recv(r->fd, r->line + c->n, sizeof(r->line) - 1 - c->n, MSG_DONTWAIT);
  if (m <= 0) return m < 0 && (errno == EAGAIN || errno == EINTR);
  c->heard = clock_now();
  c->n += (size_t)m;
  while ((end = memchr(r->line, '\n', c->n)) != NULL) {
    size_t used = (size_t)(end - r->line) + 1;
    *end = '\0';
    if (!request_answer(r, used - 1)) return 0;
    c->n -= used;
    memmove(r->line, r->line + used, c->n);
  }
  if (c->n < sizeof(r->line) - 1) return 1;
  request_refuse(r, "a line is too long");
  return 0;
}


static void welcome (int server) {
  Client *c;
  int fd;
  makeplace();
  descriptor_hold();
  pthread_mutex_lock(&opening);
  fd = holdfd(accept4(server, NULL, NULL, SOCK_CLOEXEC));
  pthread_mutex_unlock(&opening);
  descriptor_release();
  if (fd < 0) return;
  c = isfriend(fd) ? malloc(sizeof(*c)) : NULL;
  if (c == NULL) {
    closefd(fd);
    return;
  }
  c->n = 0;
  c->heard = clock_now();
  request_begin(&c->request, fd);
  fds[nclients + 1] = (struct pollfd){fd, POLLIN, 0};
  clients[nclients++] = c;
}


/* ms until a client has been silent for too long; as poll takes it. */
static int patience (uint64_t now, int ms) {
  size_t i;
  for (i = 0; i < nclients; i++)
    ms = earlier(clients[i]->heard + CONTROL_PATIENCE * UINT64_C(1000000), now, ms);
  return ms;
}


/* Waits so long, or for requests, which it answers. */
static void serve (int server, int ms) {
  const uint64_t before = clock_now();
  size_t i;
  fds[0] = (struct pollfd){server, POLLIN, 0};
  if (poll(fds, nclients + 1, patience(before, ms)) < 0) return;
  for (i = nclients; i-- > 0; ) {
    int isthere = fds[i + 1].revents == 0 || hear(clients[i]);
    if (!isthere || clock_now() - clients[i]->heard >= CONTROL_PATIENCE * UINT64_C(1000000))
      leave(i);
  }
  if (fds[0].revents & POLLIN) welcome(server);
}

/* }===================================================================== */


/* {== files ============================================================ */

static char **files;		/* that this made, the oldest first */
static uint64_t nfiles;


/* That is one of them; those that are too many go. */
static void keepfile (const char *path) {
  char **more;
  if (options.keep == 0 || path == NULL ||
      (nfiles > 0 && strcmp(files[nfiles - 1], path) == 0)) return;
  more = realloc(files, (nfiles + 1) * sizeof(*files));
  if (more == NULL || (more[nfiles] = strdup(path)) == NULL) return;
  files = more;
  nfiles++;
  if (nfiles <= options.keep) return;
  unlink(files[0]);
  free(files[0]);
  memmove(files, files + 1, --nfiles * sizeof(*files));
}


/* The file that is written now. */
static void keepcurrent (void) {
  ProcessStats s;
  process_stats(&s);
  keepfile(s.path);
}


static void change (void) {
  char err[1024], path[PATH_MAX];
  if (process_isring()) {
    if (process_dump(NULL, path, sizeof(path), err, sizeof(err))) keepfile(path);
    else complain("%s", err);
    return;
  }
  keepcurrent();
  if (!process_switch(NULL, NULL, 0, err, sizeof(err))) complain("%s", err);
  keepcurrent();
}

/* }===================================================================== */


static void *run (void *ud) {
  int server = *(int *)ud;
  uint64_t due = clock_now() + options.rotate;
  free(ud);
  if (!serves()) return NULL;
  for (;;) {
    uint64_t now = clock_now();
    int ms = (options.most > 0) ? LOOK_MS : -1;
    if (options.rotate > 0) ms = earlier(due, now, ms);
    if (requests_due() > 0) ms = earlier(requests_due(), now, ms);
    serve(server, ms);
    now = clock_now();
    if (requests_due() > 0 && now >= requests_due()) requests_expire();
    if ((options.rotate > 0 && now >= due) ||
        (options.most > 0 && process_size() > options.most && !process_isring())) {
      if (requests_due() == 0 && (process_size() > 0 || process_isring())) change();
      due = now + options.rotate;
    }
  }
  return NULL;
}


static void gone (void) {
  if (bound != NULL && pid == getpid()) unlink(bound);
}


static void start (void) {
  static int isset;
  sigset_t all, before;
  pthread_t thread;
  pthread_attr_t a;
  const char *why;
  int *fd = malloc(sizeof(*fd));
  if (fd == NULL) return;
  *fd = -1;
  free(bound);
  bound = NULL;
  if (options.listen != NULL) {
    char *path = process_path(options.listen, (unsigned long)getpid(), 1,
                              clock_read(CLOCK_REALTIME) / 1000);
    if (path != NULL && (*fd = opensocket(path, &why)) < 0) {
      complain("cannot listen at '%s': %s", path, why);
      free(path);
      path = NULL;
    }
    bound = path;
    if (!isset++) atexit(gone);
  }
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_attr_init(&a);
  pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&a, 256 << 10);
  if (pthread_create(&thread, &a, run, fd) != 0)
    complain("cannot listen at '%s': %s", bound != NULL ? bound : "", "there is no thread for it");
  pthread_attr_destroy(&a);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}


void control_setup (const ControlOptions *o) {
  options = *o;
}


static void forking (void) {
  pthread_mutex_lock(&opening);
}


static void parted (void) {
  pthread_mutex_unlock(&opening);
}


static void forked (void) {
  pthread_mutex_unlock(&opening);
  while (nheld > 0) close(held[--nheld]);
  pthread_mutex_init(&lock, NULL);
  requests_forked();
}


static void once (void) {
  pthread_atfork(forking, parted, forked);
}


void control_ensure (void) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  if (options.listen == NULL && options.rotate == 0 && options.most == 0) return;
  if (__atomic_load_n(&pid, __ATOMIC_RELAXED) == getpid()) return;
  pthread_once(&control, once);
  pthread_mutex_lock(&lock);
  if (pid != getpid()) {
    __atomic_store_n(&pid, getpid(), __ATOMIC_RELAXED);
    start();
  }
  pthread_mutex_unlock(&lock);
}
