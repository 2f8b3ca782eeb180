/* SPDX-License-Identifier: MIT */
/*
** syscalls: a Lua module of blocking system calls, which are not repeated after EINTR, for specs of
** the effect of sampling on a program. A failed call returns nil, errno. Only 'later' raises an error,
** because its caller would wait for a child that does not exist.
**
**   nanosleep(ms) poll(ms) select(ms) epoll(ms) sigtimedwait(ms)
**                        -> 0: no event in that time
**   read(fd) -> text     waitpid(pid) -> exit status of the child
**   pipe() -> fd, fd     listen() -> fd of a socket with a backlog of one
**   accept(fd) -> fd     connect(fd) -> fd of a connection to the socket that listens at fd
**   close(fd)
**   later(ms, what [, fd]) -> pid of a child that sleeps, then calls "write", "accept" or "connect"
**     on fd, or nothing ("exit"), and exits with status 7
**   EINTR                the number of this error
*/
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

static int result (lua_State *L, int n) {
  int e = errno;
  if (n >= 0) {
    lua_pushinteger(L, n);
    return 1;
  }
  luaL_pushfail(L);
  lua_pushinteger(L, e);
  return 2;
}

static int first (lua_State *L) {
  return (int)luaL_checkinteger(L, 1);
}

static struct timespec span (int ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
  return t;
}

static int l_nanosleep (lua_State *L) {
  struct timespec t = span(first(L));
  return result(L, nanosleep(&t, NULL));
}

static int l_poll (lua_State *L) {
  return result(L, poll(NULL, 0, first(L)));
}

static int l_select (lua_State *L) {
  struct timeval t = {first(L) / 1000, first(L) % 1000 * 1000};
  return result(L, select(0, NULL, NULL, NULL, &t));
}

static int l_epoll (lua_State *L) {
  struct epoll_event e;
  int fd = epoll_create1(EPOLL_CLOEXEC);
  int n = epoll_wait(fd, &e, 1, first(L)), error = errno;
  close(fd);
  errno = error;
  return result(L, n);
}

/* Waits for a signal that is never sent. */
static int l_sigtimedwait (lua_State *L) {
  struct timespec t = span(first(L));
  sigset_t set;
  int n;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  n = sigtimedwait(&set, NULL, &t);
  return result(L, n < 0 && errno == EAGAIN ? 0 : n);
}

static int l_read (lua_State *L) {
  char text[256];
  ssize_t n = read(first(L), text, sizeof(text));
  if (n < 0) return result(L, -1);
  lua_pushlstring(L, text, (size_t)n);
  return 1;
}

static int l_waitpid (lua_State *L) {
  int status = 0;
  int pid = waitpid(first(L), &status, 0);
  return result(L, pid < 0 ? -1 : WEXITSTATUS(status));
}

static int l_pipe (lua_State *L) {
  int fd[2];
  if (pipe(fd) != 0) return result(L, -1);
  lua_pushinteger(L, fd[0]);
  lua_pushinteger(L, fd[1]);
  return 2;
}

/* listen() -> a socket that listens at a name that the system chooses. */
static int l_listen (lua_State *L) {
  struct sockaddr_un a;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  memset(&a, 0, sizeof(a));
  a.sun_family = AF_UNIX;
  if (bind(fd, (struct sockaddr *)&a, sizeof(a.sun_family)) != 0 ||
      listen(fd, 0) != 0)
    return result(L, -1);
  return result(L, fd);
}

static int l_accept (lua_State *L) {
  return result(L, accept(first(L), NULL, NULL));
}

static int connected (int listening) {
  struct sockaddr_un a;
  socklen_t n = sizeof(a);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error;
  if (getsockname(listening, (struct sockaddr *)&a, &n) == 0 &&
      connect(fd, (struct sockaddr *)&a, n) == 0)
    return fd;
  error = errno;
  close(fd);
  errno = error;
  return -1;
}

static int l_connect (lua_State *L) {
  return result(L, connected(first(L)));
}

static int l_close (lua_State *L) {
  return result(L, close(first(L)));
}

static int act (const char *what, int fd) {
  if (strcmp(what, "write") == 0) return write(fd, "text", 4) == 4;
  if (strcmp(what, "accept") == 0) return accept(fd, NULL, NULL) >= 0;
  if (strcmp(what, "connect") == 0) return connected(fd) >= 0;
  return 1;
}

static int l_later (lua_State *L) {
  struct timespec t = span(first(L));
  const char *what = luaL_checkstring(L, 2);
  int fd = (int)luaL_optinteger(L, 3, -1);
  int pid = fork();
  if (pid == 0) {
    nanosleep(&t, NULL);
    _exit(act(what, fd) ? 7 : 8);
  }
  if (pid < 0) return luaL_error(L, "fork: %s", strerror(errno));
  return result(L, pid);
}

int luaopen_syscalls (lua_State *L);

int luaopen_syscalls (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"nanosleep", l_nanosleep}, {"poll", l_poll}, {"select", l_select},
    {"epoll", l_epoll}, {"sigtimedwait", l_sigtimedwait}, {"read", l_read},
    {"waitpid", l_waitpid}, {"pipe", l_pipe}, {"listen", l_listen},
    {"accept", l_accept}, {"connect", l_connect}, {"close", l_close},
    {"later", l_later}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  lua_pushinteger(L, EINTR);
  lua_setfield(L, -2, "EINTR");
  return 1;
}
