/* SPDX-License-Identifier: MIT */
/* asamp.host: a C module for Lua with system functions that the command 'asamp' needs. Two fields
   are strings: 'release' is the release of Asamp, 'lua' that of the Lua on which it is based. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "binding.h"
#include "bytes.h"
#include "clock.h"
#include "descriptor.h"
#include "foreign.h"
#include "input.h"

#define FOLDER	"asamp.host.folder"  /* metatable of a userdata with a DIR *, which is NULL after
                                        closing */

enum { COLUMNS = 80, ROWS = 24 };  /* size assumed for a terminal that does not report its size */

/* terminal(fd) -> columns, rows of a terminal (80, 24 if unknown); nil: fd is not a terminal */
static int l_terminal (lua_State *L) {
  int fd = (int)luaL_checkinteger(L, 1);
  struct winsize size;
  if (!isatty(fd)) {
    luaL_pushfail(L);
    return 1;
  }
  if (ioctl(fd, TIOCGWINSZ, &size) != 0)
    size.ws_col = size.ws_row = 0;
  lua_pushinteger(L, size.ws_col > 0 ? size.ws_col : COLUMNS);
  lua_pushinteger(L, size.ws_row > 0 ? size.ws_row : ROWS);
  return 2;
}

/* realpath(path) -> absolute path without symbolic links; nil: no such file */
static int l_realpath (lua_State *L) {
  char path[PATH_MAX];
  lua_pushstring(L, realpath(luaL_checkstring(L, 1), path));  /* NULL pushes nil */
  return 1;
}

/* isfile(path) -> true for a regular file or a symbolic link to one; does not open the file */
static int l_isfile (lua_State *L) {
  struct stat s;
  lua_pushboolean(L, stat(luaL_checkstring(L, 1), &s) == 0 && S_ISREG(s.st_mode));
  return 1;
}

/* issocket(path) -> true for a socket or a symbolic link to one; does not open the socket */
static int l_issocket (lua_State *L) {
  struct stat s;
  lua_pushboolean(L, stat(luaL_checkstring(L, 1), &s) == 0 && S_ISSOCK(s.st_mode));
  return 1;
}

/* ispipe(path) -> true for a pipe or a symbolic link to one; does not open the pipe */
static int l_ispipe (lua_State *L) {
  struct stat s;
  lua_pushboolean(L, stat(luaL_checkstring(L, 1), &s) == 0 && S_ISFIFO(s.st_mode));
  return 1;
}

/* modified(path) -> time of the last change of the content, s since the epoch; nil: no such file */
static int l_modified (lua_State *L) {
  struct stat s;
  if (stat(luaL_checkstring(L, 1), &s) != 0)
    luaL_pushfail(L);
  else
    lua_pushnumber(L, (lua_Number)s.st_mtim.tv_sec + (lua_Number)s.st_mtim.tv_nsec / 1e9);
  return 1;
}

/* samefile(a, b) -> true if the paths a and b lead to the same file */
static int l_samefile (lua_State *L) {
  struct stat a, b;
  lua_pushboolean(L, stat(luaL_checkstring(L, 1), &a) == 0 &&
                     stat(luaL_checkstring(L, 2), &b) == 0 &&
                     a.st_dev == b.st_dev && a.st_ino == b.st_ino);
  return 1;
}

/* __gc of a userdata with the metatable FOLDER: closes the folder. */
static int l_closefolder (lua_State *L) {
  DIR **d = luaL_checkudata(L, 1, FOLDER);
  if (*d != NULL)
    closedir(*d);
  *d = NULL;
  return 0;
}

/* files(path) -> {{name, size, inode, changed (ns since the epoch)}, ...}: the regular files of a
   folder, without symbolic links; on failure nil, message, errno */
static int l_files (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  DIR **d = lua_newuserdatauv(L, sizeof(*d), 0);
  struct dirent *entry;
  lua_Integer n = 0;
  *d = NULL;
  luaL_setmetatable(L, FOLDER);
  lua_newtable(L);
  *d = opendir(path);
  if (*d == NULL) {
    int e = errno;
    lua_pushnil(L);
    lua_pushfstring(L, "%s: %s", path, strerror(e));
    lua_pushinteger(L, e);
    return 3;
  }
  while ((entry = readdir(*d)) != NULL) {
    struct stat s;
    if (fstatat(dirfd(*d), entry->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode))
      continue;
    lua_createtable(L, 0, 4);
    lua_pushstring(L, entry->d_name);
    lua_setfield(L, -2, "name");
    lua_pushinteger(L, (lua_Integer)s.st_size);
    lua_setfield(L, -2, "size");
    lua_pushinteger(L, (lua_Integer)s.st_ino);
    lua_setfield(L, -2, "inode");
    lua_pushinteger(L, (lua_Integer)s.st_mtim.tv_sec * 1000000000 + s.st_mtim.tv_nsec);
    lua_setfield(L, -2, "changed");
    lua_rawseti(L, -2, ++n);
  }
  closedir(*d);
  *d = NULL;
  return 1;
}

/* names(path) -> {name, ...}: the names of all entries of a folder; nil: unreadable */
static int l_names (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  DIR **d = lua_newuserdatauv(L, sizeof(*d), 0);
  struct dirent *entry;
  lua_Integer n = 0;
  *d = NULL;
  luaL_setmetatable(L, FOLDER);
  *d = opendir(path);
  if (*d == NULL)
    return 0;
  lua_newtable(L);
  while ((entry = readdir(*d)) != NULL) {
    lua_pushstring(L, entry->d_name);
    lua_rawseti(L, -2, ++n);
  }
  closedir(*d);
  *d = NULL;
  return 1;
}

/* owner(path) -> user id of the owner of a file; does not follow symbolic links; nil: no such
   file */
static int l_owner (lua_State *L) {
  struct stat s;
  if (lstat(luaL_checkstring(L, 1), &s) != 0) return 0;
  lua_pushinteger(L, (lua_Integer)s.st_uid);
  return 1;
}

enum {
  MAX_ANSWER = 1 << 20,  /* size limit of an answer, bytes */
  MAX_SECONDS = 1 << 30, /* longest timeout, seconds */
  RETRY_MS = 10          /* time between two attempts to connect, ms */
};

/* Returns 1 if the answer, n bytes, is complete: its last line is "ok" or "error ...". */
static int iswhole (const char *text, size_t n) {
  size_t at;
  if (n == 0 || text[n - 1] != '\n')
    return 0;
  for (at = n - 1; at > 0 && text[at - 1] != '\n'; at--) { }
  return strncmp(text + at, "ok\n", 3) == 0 || strncmp(text + at, "error ", 6) == 0;
}

/* A request to a process that listens on a Unix socket, and the answer. */
typedef struct Request {
  struct sockaddr_un at;  /* address of the socket */
  int isover;	/* 1: the request is finished, with or without an answer */
  /* If 'isover' is 1: errno of the failure; 0: success. If 'isover' is 0: the errno that the
     request receives if it runs into the timeout. */
  int error;
  int fd;               /* the socket; -1: not connected */
  size_t sent;          /* number of bytes of the line that were sent */
  ForeignPeer peer;     /* the listening process; valid when connected */
  Bytes got;            /* the part of the answer that was received so far */
} Request;

/* Finishes a request and closes its socket. 'error': an errno; 0: success. */
static void hostlib_end (Request *a, int error) {
  a->isover = 1;
  a->error = error;
  if (a->fd >= 0)
    close(a->fd);
  a->fd = -1;
}

/* Tries to connect. Leaves the request unfinished, so that the next call tries again, if the
   socket's queue of connections is full or no descriptor is free. */
static void joinsocket (Request *a) {
  int e, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 && errno != EMFILE)
    hostlib_end(a, errno);
  else if (fd < 0)
    /* no descriptor is free: leaves the request unfinished, because another request may close its
       descriptor before the next call */
    a->error = EMFILE;
  else if (connect(fd, (const struct sockaddr *)&a->at, sizeof(a->at)) == 0) {
    a->fd = fd;
    a->error = ETIMEDOUT;
    if (!foreign_peer(fd, &a->peer))
      hostlib_end(a, errno);
  }
  else {
    e = errno;
    close(fd);
    if (e != EAGAIN)
      hostlib_end(a, e);
  }
}

/* Continues a request: connects, sends the line and receives the answer, as far as that is possible
   without blocking. */
static void goon (Request *a, const char *line, size_t n) {
  if (a->fd < 0)
    joinsocket(a);
  while (a->fd >= 0 && a->sent < n) {
    ssize_t sent = send(a->fd, line + a->sent, n - a->sent, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN)
      return;
    if (sent < 0 && errno == EPIPE)
      a->sent = n;  /* sends nothing more: the other process has closed the socket. It may have
                       sent an answer before */
    else if (sent < 0)
      hostlib_end(a, errno);
    else
      a->sent += (size_t)sent;
  }
  while (a->fd >= 0) {
    char piece[16384];
    ssize_t got = recv(a->fd, piece, sizeof(piece), 0);
    if (got < 0 && errno == EAGAIN)
      return;
    if (got <= 0) {
      hostlib_end(a, got < 0 ? errno : ECONNRESET);
      return;
    }
    bytes_add(&a->got, piece, (size_t)got);
    if (a->got.failed)
      hostlib_end(a, ENOMEM);
    else if (iswhole((const char *)a->got.data, a->got.n))
      hostlib_end(a, 0);
    else if (a->got.n >= MAX_ANSWER)
      hostlib_end(a, EMSGSIZE);
  }
}

/* Sends n requests and receives their answers, until all are finished or the time 'due' (clock_now,
   ns) is reached. 'polled' has space for n elements. */
static void talk (Request *all, struct pollfd *polled, size_t n, const char *line, size_t length,
                  uint64_t due) {
  for (;;) {
    size_t i, left = 0, connected = 0;
    uint64_t now, ms;
    for (i = 0; i < n; i++) {
      Request *a = &all[i];
      if (!a->isover)
        goon(a, line, length);
      left += (size_t)!a->isover;
      if (a->fd < 0)
        continue;
      polled[connected].fd = a->fd;
      polled[connected++].events = a->sent < length ? POLLIN | POLLOUT : POLLIN;
    }
    now = clock_now();
    if (left == 0 || now >= due)
      break;
    ms = (due - now) / 1000000 + 1;
    if (connected < left && ms > RETRY_MS)
      ms = RETRY_MS;
    poll(polled, connected, ms < INT_MAX ? (int)ms : INT_MAX);
  }
  while (n-- > 0)
    if (!all[n].isover)
      hostlib_end(&all[n], all[n].error);
}

/* Pushes the results of l_query for a finished request. Returns the number of results. Frees the
   answer. */
static int pushanswer (lua_State *L, Request *a) {
  int i;
  if (a->error == 0) {
    lua_pushlstring(L, (const char *)a->got.data, a->got.n);
    bytes_free(&a->got);
    for (i = 0; i < 3; i++)
      lua_pushnil(L);
    lua_pushinteger(L, (lua_Integer)a->peer.pid);
    lua_pushinteger(L, (lua_Integer)a->peer.uid);
    return 6;
  }
  bytes_free(&a->got);
  luaL_pushfail(L);
  lua_pushstring(L, strerror(a->error));
  lua_pushboolean(L, a->error == ETIMEDOUT);
  lua_pushboolean(L, a->error == ECONNREFUSED);
  if (a->error != ECONNRESET || a->peer.pid <= 0)
    return 4;
  lua_pushinteger(L, (lua_Integer)a->peer.pid);
  return 5;
}

/* Initializes a request to the socket at 'path'. If the path is too long, finishes the request with
   ENAMETOOLONG. */
static void setpath (Request *a, const char *path) {
  memset(a, 0, sizeof(*a));
  a->fd = -1;
  a->at.sun_family = AF_UNIX;
  a->error = ETIMEDOUT;
  if (strlen(path) < sizeof(a->at.sun_path))
    strcpy(a->at.sun_path, path);
  else
    hostlib_end(a, ENAMETOOLONG);
}

/* Sends n requests and receives their answers. Lua argument 2 is the line to send, argument 3 the
   timeout in seconds. */
static void querythem (lua_State *L, Request *all, size_t n) {
  size_t length;
  const char *line = luaL_checklstring(L, 2, &length);
  lua_Integer seconds = luaL_optinteger(L, 3, 15);
  struct pollfd *polled = lua_newuserdatauv(L, n * sizeof(*polled), 0);
  if (seconds > MAX_SECONDS)
    seconds = MAX_SECONDS;
  talk(all, polled, n, line, length, clock_now() + (uint64_t)seconds * 1000000000u);
}

/*
** query(path, line [, seconds]) -> text, nil, nil, nil, pid, uid: sends a line to a Unix socket and
** returns the answer, which ends with a line "ok" or "error ...", and the listening process. The
** default timeout is 15 s.
**
** On failure nil, message, timedout (true: after a timeout), refused (true: the connection was
** refused), closer (id of the process that closed the connection).
*/
static int l_query (lua_State *L) {
  Request a;
  setpath(&a, luaL_checkstring(L, 1));
  querythem(L, &a, 1);
  return pushanswer(L, &a);
}

/* queryall(paths, line [, seconds]) -> {{results of query}, ...}: sends a line to several sockets
   at once */
static int l_queryall (lua_State *L) {
  size_t i, n;
  Request *all;
  luaL_checktype(L, 1, LUA_TTABLE);
  n = (size_t)lua_rawlen(L, 1);
  lua_settop(L, 3);
  all = lua_newuserdatauv(L, n * sizeof(*all), 0);
  for (i = 0; i < n; i++) {
    lua_rawgeti(L, 1, (lua_Integer)i + 1);
    setpath(&all[i], luaL_checkstring(L, -1));
    lua_pop(L, 1);
  }
  querythem(L, all, n);
  lua_createtable(L, (int)n, 0);
  for (i = 0; i < n; i++) {
    int k;
    lua_createtable(L, 6, 0);
    for (k = pushanswer(L, &all[i]); k > 0; k--)
      lua_rawseti(L, -1 - k, k);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* Closes a file that l_openfile has returned. The method file:close calls this function. */
static int l_closefile (lua_State *L) {
  luaL_Stream *s = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  lua_pushboolean(L, fclose(s->f) == 0);
  return 1;
}

/* Returns a path to the open file 'fd': its link in /proc/self/fd, written to 'to', or 'path' if
   there is no such link. */
static const char *hostlib_nameof (int fd, const char *path, char *to, size_t size) {
  struct stat named, file;
  snprintf(to, size, "/proc/self/fd/%d", fd);
  return stat(to, &named) == 0 && fstat(fd, &file) == 0 && named.st_ino == file.st_ino &&
         named.st_dev == file.st_dev ? to : path;
}

/* openfile(path [, pid, uid [, any]]) -> file, name: opens a regular file whose path another
   process, 'pid' of user 'uid', has supplied (foreign.h); if 'any' is true, any file
   (input_open). On failure nil, message. The path 'name' leads to the open file even if 'path'
   is replaced. */
static int l_openfile (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  ForeignPeer peer = {(pid_t)luaL_optinteger(L, 2, 0), (uid_t)luaL_optinteger(L, 3, 0)};
  int fd, any = lua_toboolean(L, 4);
  /* created after argument 4 ('any') was read: if the caller has passed only 3 arguments, the new
     userdata has stack index 4 and would be read as 'any' */
  luaL_Stream *s = lua_newuserdatauv(L, sizeof(*s), 0);
  char why[256], name[64];
  s->closef = NULL;
  luaL_setmetatable(L, LUA_FILEHANDLE);
  fd = any ? input_open(path)
           : foreign_open(path, lua_isnoneornil(L, 3) ? NULL : &peer, why, sizeof(why));
  if (any && fd < 0)
    snprintf(why, sizeof(why), "%s", strerror(errno));
  if (fd >= 0 && (s->f = fdopen(fd, "rb")) == NULL) {
    snprintf(why, sizeof(why), "%s", strerror(errno));
    close(fd);
    fd = -1;
  }
  if (fd < 0) {
    luaL_pushfail(L);
    lua_pushfstring(L, "cannot open '%s': %s", path, why);
    return 2;
  }
  s->closef = l_closefile;
  lua_pushstring(L, hostlib_nameof(fd, path, name, sizeof(name)));
  return 2;
}

/* Returns Lua argument i, a user id. Default: the effective user. */
static uid_t useroption (lua_State *L, int i) {
  return (uid_t)luaL_optinteger(L, i, (lua_Integer)geteuid());
}

/* newfolder(parent [, uid]) -> path: creates a folder in 'parent' that only its owner, user 'uid',
   can enter; on failure nil, message */
static int l_newfolder (lua_State *L) {
  char path[PATH_MAX];
  const char *parent = luaL_checkstring(L, 1);
  int n = snprintf(path, sizeof(path), "%s/asamp.XXXXXX", parent);
  int error = (size_t)n < sizeof(path) ? foreign_folder(path, useroption(L, 2)) : ENAMETOOLONG;
  if (error == 0) {
    lua_pushstring(L, path);
    return 1;
  }
  luaL_pushfail(L);
  lua_pushfstring(L, "cannot create a folder in '%s': %s; set TMPDIR to a writable folder",
                  parent, strerror(error));
  return 2;
}

/* temporary() -> folder for temporary files: $TMPDIR if it is an absolute path of ASCII letters,
   digits, '/', '.', '_' and '-', else /tmp */
static int l_temporary (lua_State *L) {
  static const char plain[] = "/._-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const char *folder = getenv("TMPDIR");
  int good = folder != NULL && folder[0] == '/' && folder[strspn(folder, plain)] == '\0';
  lua_pushstring(L, good ? folder : "/tmp");
  return 1;
}

/* discard(path [, uid]): removes a folder that 'newfolder' has created, and its files, with the
   rights of user 'uid' */
static int l_discard (lua_State *L) {
  foreign_discard(luaL_checkstring(L, 1), useroption(L, 2));
  return 0;
}

/* unlinksocket(path [, uid]): removes a socket, with the rights of user 'uid' */
static int l_unlinksocket (lua_State *L) {
  foreign_unlink(luaL_checkstring(L, 1), useroption(L, 2));
  return 0;
}

/* clock() -> time of the monotonic clock, us */
static int l_clock (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)(clock_now() / 1000));
  return 1;
}

/* uid() -> effective user id */
static int l_uid (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)geteuid());
  return 1;
}

/* The signals blocked by 'catch'. */
static sigset_t caught;

/* catch(): blocks SIGINT, SIGTERM and SIGHUP, except ignored ones. Blocked signals stay pending
   until 'pause' receives them */
static int l_catch (lua_State *L) {
  static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction now;
  size_t i;
  (void)L;
  sigemptyset(&caught);
  for (i = 0; i < sizeof(SIGNALS) / sizeof(*SIGNALS); i++)
    if (sigaction(SIGNALS[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(&caught, SIGNALS[i]);
  sigprocmask(SIG_BLOCK, &caught, NULL);
  return 0;
}

/* pause(milliseconds) -> number of a signal, or nil: waits until a signal that 'catch' has blocked
   is pending, and returns its number. Returns nil after 'milliseconds' without a signal. */
static int l_pause (lua_State *L) {
  lua_Integer ms = luaL_checkinteger(L, 1);
  struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
  int signal = sigtimedwait(&caught, NULL, &t);
  if (signal < 0) return 0;
  lua_pushinteger(L, signal);
  return 1;
}

/* Program for whose end 'run' waits, a process id; 0: none. */
static volatile pid_t running;

/* had[s] is 1 if this process has ever received signal s while 'run' waited for a program. A SIGINT
   or SIGQUIT from the terminal does not count (passlater). */
static volatile sig_atomic_t had[NSIG];

/* Signal handler: sends the signal to the running program at once. */
static void passon (int signal) {
  int e = errno;
  had[signal] = 1;
  if (running != 0)
    kill(running, signal);
  errno = e;
}

static volatile sig_atomic_t delayed;  /* number of the signal that passlater has delayed */

/* Handles SIGINT and SIGQUIT. Ignores a signal from the terminal, because the terminal sends it to
   the program, too. A signal from another process has reached the program already if that process
   sent it to the process group. So delays the signal by a second: requests SIGALRM, whose handler
   passdelayed passes the signal on if the program still runs. */
static void passlater (int signal, siginfo_t *info, void *context) {
  (void)context;
  if (info->si_code == SI_KERNEL || running == 0)
    return;
  had[signal] = 1;
  delayed = signal;
  alarm(1);
}

/* Handles SIGALRM, which passlater has requested a second after SIGINT or SIGQUIT: passes that
   signal on to the program, which is still running and thus may not have received it. */
static void passdelayed (int signal) {
  (void)signal;
  passon(delayed);
}

/* How this process handles one signal while 'run' waits for a program. */
typedef struct Passing {
  int signal;
  /* The handler of the signal: one of 'at_once' and 'later'. The other one is NULL. */
  void (*at_once) (int);
  void (*later) (int, siginfo_t *, void *);
  struct sigaction before;  /* action of the signal before 'run' changed it */
} Passing;

enum { NPASSING = 7 };
static const Passing PASSING[NPASSING] = {
  {.signal = SIGTERM, .at_once = passon}, {.signal = SIGHUP, .at_once = passon},
  {.signal = SIGUSR1, .at_once = passon}, {.signal = SIGUSR2, .at_once = passon},
  {.signal = SIGINT, .later = passlater}, {.signal = SIGQUIT, .later = passlater},
  {.signal = SIGALRM, .at_once = passdelayed}
};

/* Stores the present action of a signal in p->before. Installs the handler, unless the signal is
   ignored. */
static void handle (Passing *p) {
  struct sigaction a;
  memset(&a, 0, sizeof(a));
  sigemptyset(&a.sa_mask);
  a.sa_flags = SA_RESTART;
  if (p->later != NULL) {
    a.sa_sigaction = p->later;
    a.sa_flags |= SA_SIGINFO;
  }
  else
    a.sa_handler = p->at_once;
  sigaction(p->signal, NULL, &p->before);
  if (p->before.sa_handler != SIG_IGN)
    sigaction(p->signal, &a, NULL);
}

/* Restores the previous action of a signal after the end of the program, but not if the signal was
   received (had[]): timeout(1) sends a signal twice, and the second one would end this process. */
static void unhandle (const Passing *p) {
  if (!had[p->signal])
    sigaction(p->signal, &p->before, NULL);
}

/* Starts the program words[0] and waits for its end. Sets *pid to its id, and *status to its wait
   status. Returns 0 or an errno. */
static int hostlib_await (char *const words[], char *const environment[],
                          int *status, pid_t *pid) {
  Passing passing[NPASSING];
  struct sigaction child, byitself;
  posix_spawnattr_t attributes;
  sigset_t blocked, before;
  pid_t ended;
  int i, e;
  memcpy(passing, PASSING, sizeof(passing));
  sigemptyset(&blocked);
  for (i = 0; i < NPASSING; i++)
    sigaddset(&blocked, passing[i].signal);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  memset(&byitself, 0, sizeof(byitself));
  sigemptyset(&byitself.sa_mask);
  byitself.sa_handler = SIG_DFL;  /* waitpid fails if SIGCHLD is ignored */
  sigaction(SIGCHLD, &byitself, &child);
  for (i = 0; i < NPASSING; i++)
    handle(&passing[i]);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &before);
  e = posix_spawn(pid, words[0], NULL, &attributes, words, environment);
  posix_spawnattr_destroy(&attributes);
  if (e == 0) {
    running = *pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    while ((ended = waitpid(*pid, status, 0)) == -1 && errno == EINTR)
      continue;
    if (ended == -1)
      e = errno;
    running = 0;
    alarm(0);
  }
  for (i = 0; i < NPASSING; i++)
    unhandle(&passing[i]);
  sigaction(SIGCHLD, &child, NULL);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return e;
}

/* Pushes a userdata with space for n pointers. Returns its address. */
static char **pointers (lua_State *L, size_t n) {
  return lua_newuserdatauv(L, n * sizeof(char *), 0);
}

/* Returns the environment for the program: the variables in the table at index 2, then the other
   variables of this process. The result is valid while the values that this function pushes are on
   the stack. */
static char **environmentof (lua_State *L) {
  size_t n = 0, own = 0, i, given;
  char **list;
  int keep;
  while (environ[own] != NULL)
    own++;
  lua_newtable(L);
  keep = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, 2) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING || !lua_isstring(L, -1))
      luaL_argerror(L, 2, "strings expected");
    lua_pushfstring(L, "%s=%s", lua_tostring(L, -2), lua_tostring(L, -1));
    lua_rawseti(L, keep, (lua_Integer)++n);
  }
  list = pointers(L, n + own + 1);
  for (i = 0; i < n; i++) {
    lua_rawgeti(L, keep, (lua_Integer)i + 1);
    list[i] = (char *)lua_tostring(L, -1);  /* the table keeps the string alive */
    lua_pop(L, 1);
  }
  given = n;
  for (i = 0; i < own; i++) {  /* adds the variables of this process that the table does not set */
    size_t k = 0, length = strcspn(environ[i], "=") + 1;
    while (k < given && strncmp(list[k], environ[i], length) != 0)
      k++;
    if (k == given)
      list[n++] = environ[i];
  }
  list[n] = NULL;
  return list;
}

/* run(words [, environment]) -> "exit", status, pid or "signal", number, pid: runs the program
   words[1] and waits for its end; on failure nil, message. 'environment' sets variables, {name =
   value}. Passes the signals of the table PASSING on to the program, except SIGINT and SIGQUIT from
   the terminal. */
static int l_run (lua_State *L) {
  size_t i, n;
  int status, e;
  pid_t pid;
  char **words, **environment;
  luaL_checktype(L, 1, LUA_TTABLE);
  if (lua_isnoneornil(L, 2)) {
    lua_settop(L, 1);
    lua_newtable(L);
  }
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  n = lua_rawlen(L, 1);
  luaL_argcheck(L, n > 0, 1, "no program");
  words = pointers(L, n + 1);
  for (i = 0; i < n; i++) {
    if (lua_rawgeti(L, 1, (lua_Integer)i + 1) != LUA_TSTRING)
      return luaL_argerror(L, 1, "strings expected");
    words[i] = (char *)lua_tostring(L, -1);  /* the table keeps the string alive */
    lua_pop(L, 1);
  }
  words[n] = NULL;
  environment = environmentof(L);
  e = hostlib_await(words, environment, &status, &pid);
  if (e != 0) {
    luaL_pushfail(L);
    lua_pushfstring(L, "cannot run '%s': %s", words[0], strerror(e));
    return 2;
  }
  if (WIFSIGNALED(status)) {
    lua_pushliteral(L, "signal");
    lua_pushinteger(L, WTERMSIG(status));
  }
  else {
    lua_pushliteral(L, "exit");
    lua_pushinteger(L, WEXITSTATUS(status));
  }
  lua_pushinteger(L, pid);
  return 3;
}

/* interruptible(): lets SIGINT end this process at once, unless SIGINT is ignored */
static int l_interruptible (lua_State *L) {
  struct sigaction now;
  (void)L;
  sigaction(SIGINT, NULL, &now);
  if (now.sa_handler != SIG_IGN)
    signal(SIGINT, SIG_DFL);
  return 0;
}

/* streams(): reserves the descriptors of closed standard streams, so that no file is opened as
   one */
static int l_streams (lua_State *L) {
  (void)L;
  descriptor_hold();
  return 0;
}

/* raise(signal): ends this process with a signal, without a core file */
static int l_raise (lua_State *L) {
  int number = (int)luaL_checkinteger(L, 1);
  const struct rlimit none = {0, 0};
  sigset_t set;
  setrlimit(RLIMIT_CORE, &none);  /* a core file of this process is useless: only one of the program
                                     that it ran would help */
  signal(number, SIG_DFL);
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  raise(number);
  return luaL_error(L, "signal %d does not end a process", number);
}

int luaopen_asamp_host (lua_State *L);

int luaopen_asamp_host (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"terminal", l_terminal}, {"samefile", l_samefile}, {"owner", l_owner}, {"isfile", l_isfile},
    {"issocket", l_issocket}, {"ispipe", l_ispipe},
    {"realpath", l_realpath}, {"modified", l_modified}, {"files", l_files}, {"names", l_names},
    {"run", l_run}, {"raise", l_raise}, {"interruptible", l_interruptible},
    {"streams", l_streams}, {"query", l_query}, {"queryall", l_queryall}, {"uid", l_uid},
    {"clock", l_clock}, {"catch", l_catch}, {"pause", l_pause}, {"openfile", l_openfile},
    {"newfolder", l_newfolder}, {"temporary", l_temporary}, {"discard", l_discard},
    {"unlinksocket", l_unlinksocket}, {NULL, NULL}
  };
  if (!binding_open(L, "asamp.host", 0)) return 0;
  luaL_newmetatable(L, FOLDER);
  lua_pushcfunction(L, l_closefolder);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, functions);
  lua_pushliteral(L, ASAMP_RELEASE);
  lua_setfield(L, -2, "release");
  lua_pushliteral(L, LUA_RELEASE);
  lua_setfield(L, -2, "lua");
  return 1;
}
