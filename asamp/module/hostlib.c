/* SPDX-License-Identifier: MIT */
/*
** asamp.host: system functions that the command needs and Lua's library lacks. A plain C module
** for Lua 5.4; independent of profiles.
**
**   terminal(fd) -> columns and rows of the terminal at that descriptor (80 and 24 if it does not
**       report them); nil: the descriptor is not a terminal
**   run(words [, environment]) -> "exit", status, pid | "signal", number, pid | nil, message
**       runs words[1] (a path) with the arguments 'words', words[1] included, and waits for its
**       end. The environment is that of this process with the pairs of the table 'environment'.
**       Leaves the terminal's signals to the program, as a shell does for a foreground job. Passes
**       SIGTERM and SIGHUP on to the program, and SIGINT and SIGQUIT if they did not come from the
**       terminal. A signal that was passed on, and arrives again after the program has
**       ended, is ignored
**   samefile(a, b) -> true if both names lead to the same existing file
**   owner(path) -> user id of the owner of the file; does not follow links; nil: no such file
**   realpath(path) -> absolute path without links, "." and ".."; nil: no such file
**   issocket(path) -> true for a socket, or a link to one. Does not open the file.
**   isfile(path) -> true for a regular file, or a link to one. Does not open the file, so that a
**       pipe cannot block the caller
**   modified(path) -> time of the last change of the content, in seconds since the epoch; nil: no
**       such file
**   files(path) -> {{name =, size =, inode =, changed =}, ...} | nil, message, errno: the regular
**       files (no links) in the folder, unordered; 'changed': time of the last change of the
**       content, ns since the epoch
**   names(path) -> {name, ...}: all entries of the folder, with "." and "..", unordered; nil:
**       unreadable
**   raise(signal) ends this process with that signal, without a core file; raises an error if the
**       signal does not end it
**   query(path, line [, seconds])
**       -> text, nil, nil, nil, pid, uid | nil, message, timedout, refused, closer
**       sends a line to the Unix socket at 'path' and returns the answer up to and including its
**       last line "ok" or "error ...". 'seconds' is the timeout for the whole answer (default 15).
**       'pid' and 'uid' are of the listening process (foreign.h); 'refused' is true if no process
**       listens; 'closer' is the id of a process that has closed the connection
**   queryall(paths, line [, seconds]) -> {{results of query}, ...}: 'query' for several sockets at
**       once
**   openfile(path [, pid, uid]) -> file, name | nil, message
**       opens a regular file whose path another process or a file supplied (foreign.h); 'pid' and
**       'uid' as 'query' returned them. While 'file' is open, 'name' is a path of that file even if
**       'path' is replaced; without /proc it is 'path'
**   newfolder(parent [, uid]) -> path | nil, message
**       makes a folder that only its owner can enter. The owner is user 'uid', by default the
**       effective user
**   temporary() -> folder for temporary files: $TMPDIR if it is an absolute path of plain
**       characters, else /tmp
**   discard(path [, uid]) removes a folder of 'newfolder' and its files
**   unlinksocket(path [, uid]) removes a socket with the rights of that user
**   uid() -> effective user id
**   clock() -> microseconds of the monotonic clock
**   catch() blocks those of SIGINT, SIGTERM and SIGHUP that are not ignored. A blocked signal stays
**       pending until 'pause' returns it
**   pause(milliseconds) -> nil | the number of a signal blocked by 'catch', which ends the pause
**   streams() from now on no newly opened file takes the number of a closed standard stream
**   release  the release of Asamp, as in VERSION
**   lua  the release of Lua that Asamp is a fork of: "Lua 5.4.n"
**   interruptible() lets SIGINT end this process at once, unless SIGINT is ignored; the stand-alone
**       interpreter would delay it until Lua code runs
*/
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

#define FOLDER	"asamp.host.folder"  /* metatable of a box of a DIR *, NULL if closed */

enum { COLUMNS = 80, ROWS = 24 };  /* assumed size of a terminal that does not report its size, in
                                      characters */

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

static int l_realpath (lua_State *L) {
  char path[PATH_MAX];
  lua_pushstring(L, realpath(luaL_checkstring(L, 1), path));  /* NULL pushes nil */
  return 1;
}

static int l_isfile (lua_State *L) {
  struct stat s;
  lua_pushboolean(L, stat(luaL_checkstring(L, 1), &s) == 0 &&
                     S_ISREG(s.st_mode));
  return 1;
}

static int l_issocket (lua_State *L) {
  struct stat s;
  lua_pushboolean(L, stat(luaL_checkstring(L, 1), &s) == 0 && S_ISSOCK(s.st_mode));
  return 1;
}

static int l_modified (lua_State *L) {
  struct stat s;
  if (stat(luaL_checkstring(L, 1), &s) != 0)
    luaL_pushfail(L);
  else
    lua_pushnumber(L, (lua_Number)s.st_mtim.tv_sec + (lua_Number)s.st_mtim.tv_nsec / 1e9);
  return 1;
}

static int l_samefile (lua_State *L) {
  struct stat a, b;
  lua_pushboolean(L, stat(luaL_checkstring(L, 1), &a) == 0 &&
                     stat(luaL_checkstring(L, 2), &b) == 0 &&
                     a.st_dev == b.st_dev && a.st_ino == b.st_ino);
  return 1;
}

/* __gc of a FOLDER */
static int l_closefolder (lua_State *L) {
  DIR **d = luaL_checkudata(L, 1, FOLDER);
  if (*d != NULL)
    closedir(*d);
  *d = NULL;
  return 0;
}

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

static int l_owner (lua_State *L) {
  struct stat s;
  if (lstat(luaL_checkstring(L, 1), &s) != 0) return 0;
  lua_pushinteger(L, (lua_Integer)s.st_uid);
  return 1;
}

enum {
  MAX_ANSWER = 1 << 20,  /* largest answer in bytes */
  MAX_SECONDS = 1 << 30, /* longest timeout in seconds */
  RETRY_MS = 10          /* ms between attempts to connect */
};

/* Returns 1 if the answer is complete: its last line is "ok" or "error ...". */
static int iswhole (const char *text, size_t n) {
  size_t at;
  if (n == 0 || text[n - 1] != '\n')
    return 0;
  for (at = n - 1; at > 0 && text[at - 1] != '\n'; at--) { }
  return strncmp(text + at, "ok\n", 3) == 0 || strncmp(text + at, "error ", 6) == 0;
}

/* A request on one socket, and the answer received so far. */
typedef struct Request {
  struct sockaddr_un at;  /* address of the socket */
  int isover;	/* 1: the request is finished, with or without an answer */
  /* If the request is finished: 0, or the errno that explains why there is no complete answer. If
     it is not finished: the errno with which it fails at the timeout. */
  int error;
  int fd;               /* descriptor of the connection; -1: not connected */
  size_t sent;          /* bytes of the line sent so far */
  ForeignPeer peer;     /* the listening process; valid after connecting */
  Bytes got;            /* the answer so far */
} Request;

/* Finishes a request with an errno, or with 0 if its answer is complete. */
static void hostlib_end (Request *a, int error) {
  a->isover = 1;
  a->error = error;
  if (a->fd >= 0)
    close(a->fd);
  a->fd = -1;
}

/*
** Tries to connect. Leaves the request unfinished, so that the caller tries again, if the backlog
** of the socket is full (EAGAIN) or this process has no free descriptor.
*/
static void joinsocket (Request *a) {
  int e, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 && errno != EMFILE)
    hostlib_end(a, errno);
  else if (fd < 0)
    a->error = EMFILE;  /* not final: another request may close its descriptor before the timeout */
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

/* Connects, sends the line and receives the answer, as far as that is possible without blocking. */
static void goon (Request *a, const char *line, size_t n) {
  if (a->fd < 0)
    joinsocket(a);
  while (a->fd >= 0 && a->sent < n) {
    ssize_t sent = send(a->fd, line + a->sent, n - a->sent, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN)
      return;
    if (sent < 0 && errno == EPIPE)
      a->sent = n;  /* the process closed before it read the line; its answer may be readable */
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

/*
** Serves the n requests until all are finished or clock_now() reaches 'due'. Requests that are then
** unfinished fail with their 'error'. 'polled' has capacity for n entries. 'length': bytes of
** 'line'.
*/
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

/* Pushes the results of 'query' for a finished request, and returns their number. Frees the
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

/* Initializes a request to the socket at 'path'. If the path is too long, the request is finished
   with ENAMETOOLONG. */
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

/* Sends n requests and receives their answers, up to the timeout. Argument 2 is the line, argument
   3 the timeout in seconds. */
static void querythem (lua_State *L, Request *all, size_t n) {
  size_t length;
  const char *line = luaL_checklstring(L, 2, &length);
  lua_Integer seconds = luaL_optinteger(L, 3, 15);
  struct pollfd *polled = lua_newuserdatauv(L, n * sizeof(*polled), 0);
  if (seconds > MAX_SECONDS)
    seconds = MAX_SECONDS;
  talk(all, polled, n, line, length, clock_now() + (uint64_t)seconds * 1000000000u);
}

static int l_query (lua_State *L) {
  Request a;
  setpath(&a, luaL_checkstring(L, 1));
  querythem(L, &a, 1);
  return pushanswer(L, &a);
}

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

/* Closes a file of 'openfile'; called by the io library. */
static int l_closefile (lua_State *L) {
  luaL_Stream *s = luaL_checkudata(L, 1, LUA_FILEHANDLE);
  lua_pushboolean(L, fclose(s->f) == 0);
  return 1;
}

/*
** Returns a path of the open file 'fd': its entry in /proc/self/fd, written to 'to', if that entry
** leads to the same file; else 'path'.
*/
static const char *hostlib_nameof (int fd, const char *path, char *to, size_t size) {
  struct stat named, file;
  snprintf(to, size, "/proc/self/fd/%d", fd);
  return stat(to, &named) == 0 && fstat(fd, &file) == 0 && named.st_ino == file.st_ino &&
         named.st_dev == file.st_dev ? to : path;
}

static int l_openfile (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  ForeignPeer peer = {(pid_t)luaL_optinteger(L, 2, 0), (uid_t)luaL_optinteger(L, 3, 0)};
  luaL_Stream *s = lua_newuserdatauv(L, sizeof(*s), 0);
  char why[256], name[64];
  int fd;
  s->closef = NULL;
  luaL_setmetatable(L, LUA_FILEHANDLE);
  fd = foreign_open(path, lua_isnoneornil(L, 3) ? NULL : &peer, why, sizeof(why));
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

/* Returns argument i, a user id; the effective user if it is absent. */
static uid_t useroption (lua_State *L, int i) {
  return (uid_t)luaL_optinteger(L, i, (lua_Integer)geteuid());
}

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
  lua_pushfstring(L, "cannot create a folder in '%s': %s", parent, strerror(error));
  return 2;
}

static int l_temporary (lua_State *L) {
  static const char plain[] = "/._-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const char *folder = getenv("TMPDIR");
  int good = folder != NULL && folder[0] == '/' && folder[strspn(folder, plain)] == '\0';
  lua_pushstring(L, good ? folder : "/tmp");
  return 1;
}

static int l_discard (lua_State *L) {
  foreign_discard(luaL_checkstring(L, 1), useroption(L, 2));
  return 0;
}

static int l_unlinksocket (lua_State *L) {
  foreign_unlink(luaL_checkstring(L, 1), useroption(L, 2));
  return 0;
}

static int l_clock (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)(clock_now() / 1000));
  return 1;
}

static int l_uid (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)geteuid());
  return 1;
}

/* The signals that 'catch' has blocked. */
static sigset_t caught;

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

static int l_pause (lua_State *L) {
  lua_Integer ms = luaL_checkinteger(L, 1);
  struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
  int signal = sigtimedwait(&caught, NULL, &t);
  if (signal < 0) return 0;
  lua_pushinteger(L, signal);
  return 1;
}

/* Process id of the program that 'run' waits for; 0: none. */
static volatile pid_t running;

/* had[s] is 1 if the handler passon or passlater has received signal s for a program. Never
   reset. */
static volatile sig_atomic_t had[NSIG];

/* Signal handler: passes the signal on at once. */
static void passon (int signal) {
  int e = errno;
  had[signal] = 1;
  if (running != 0)
    kill(running, signal);
  errno = e;
}

static volatile sig_atomic_t delayed;  /* number of the signal that passlater has delayed */

/*
** Signal handler of SIGINT and SIGQUIT. A signal of another process is passed on only if the
** program still runs a second later: the sender may have sent it to the whole process group, which
** includes the program (timeout -s INT), and while a Lua program turns the first SIGINT into an
** error, a second one would kill it. A signal of the terminal is ignored, because the program
** receives it as well.
*/
static void passlater (int signal, siginfo_t *info, void *context) {
  (void)context;
  if (info->si_code == SI_KERNEL || running == 0)
    return;
  had[signal] = 1;
  delayed = signal;
  alarm(1);
}

/* Signal handler of SIGALRM: passes on the signal that passlater has delayed for one second. */
static void passdelayed (int signal) {
  (void)signal;
  passon(delayed);
}

/* How this process handles one signal while it waits for the program. */
typedef struct Passing {
  int signal;
  void (*at_once) (int);  /* the handler, if 'later' is NULL */
  void (*later) (int, siginfo_t *, void *);
  struct sigaction before;  /* the previous action */
} Passing;

enum { NPASSING = 5 };
static const Passing PASSING[NPASSING] = {
  {.signal = SIGTERM, .at_once = passon}, {.signal = SIGHUP, .at_once = passon},
  {.signal = SIGINT, .later = passlater}, {.signal = SIGQUIT, .later = passlater},
  {.signal = SIGALRM, .at_once = passdelayed}
};

/* Stores the previous action of the signal, and installs the handler unless the signal is
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

/*
** Restores the previous action of a signal after the program has ended. A signal that was passed on
** or delayed ('had') keeps its handler, which then does nothing: the command 'timeout' sends its
** signal to this process, and then again to the whole process group, and the second one would end
** this process.
*/
static void unhandle (const Passing *p) {
  if (!had[p->signal])
    sigaction(p->signal, &p->before, NULL);
}

/*
** Starts the program words[0] and waits for its end. The program has this process's signal mask and
** ignored signals, except that SIGCHLD is not ignored. Returns 0 and sets *status to the wait
** status, or returns an errno. Sets *pid.
*/
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
  byitself.sa_handler = SIG_DFL;  /* because waitpid fails in a process that ignores SIGCHLD */
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

/* Pushes a userdata with capacity for n pointers and returns its address. */
static char **pointers (lua_State *L, size_t n) {
  return lua_newuserdatauv(L, n * sizeof(char *), 0);
}

/*
** Returns the environment of the program: "name=value" for each pair of the table at index 2, then
** the variables of this process that the table does not set. Pushes values that own the memory.
*/
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
  for (i = 0; i < own; i++) {  /* adds the variables that the table does not set */
    size_t k = 0, length = strcspn(environ[i], "=") + 1;
    while (k < given && strncmp(list[k], environ[i], length) != 0)
      k++;
    if (k == given)
      list[n++] = environ[i];
  }
  list[n] = NULL;
  return list;
}

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

static int l_interruptible (lua_State *L) {
  struct sigaction now;
  (void)L;
  sigaction(SIGINT, NULL, &now);
  if (now.sa_handler != SIG_IGN)
    signal(SIGINT, SIG_DFL);
  return 0;
}

static int l_streams (lua_State *L) {
  (void)L;
  descriptor_hold();
  return 0;
}

static int l_raise (lua_State *L) {
  int number = (int)luaL_checkinteger(L, 1);
  const struct rlimit none = {0, 0};
  sigset_t set;
  setrlimit(RLIMIT_CORE, &none);  /* because only the core file of the ended program is useful */
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
    {"issocket", l_issocket},
    {"realpath", l_realpath}, {"modified", l_modified}, {"files", l_files}, {"names", l_names},
    {"run", l_run}, {"raise", l_raise}, {"interruptible", l_interruptible},
    {"streams", l_streams}, {"query", l_query}, {"queryall", l_queryall}, {"uid", l_uid},
    {"clock", l_clock}, {"catch", l_catch}, {"pause", l_pause}, {"openfile", l_openfile},
    {"newfolder", l_newfolder}, {"temporary", l_temporary},
    {"discard", l_discard}, {"unlinksocket", l_unlinksocket},
    {NULL, NULL}
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
