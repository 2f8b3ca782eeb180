/* SPDX-License-Identifier: MIT */
/*
** refusing: a Lua module that makes calls of malloc, realloc, sigaltstack and write fail. It must be
** preloaded (LD_PRELOAD) and also loaded by require in the same process. malloc and realloc both
** matter, because lists grow by malloc in debug builds, and by realloc in other builds. The module
** cannot be combined with AddressSanitizer, which replaces malloc.
**
**   refuse(n)     from now on all requests for exactly n bytes fail; 0: none fails
**   refused() -> the number of failed requests
**   nostack(yes)  true: from now on all attempts to set an alternate signal stack fail; false: none
**   mortal()      each child process that is created later is killed at its first call of write
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

static size_t refusing;
static long times;

void *realloc (void *p, size_t n) {
  static void *(*next) (void *, size_t);
  if (n == refusing && n != 0) {
    times++;
    return NULL;
  }
  if (next == NULL) next = (void *(*) (void *, size_t))dlsym(RTLD_NEXT, "realloc");
  return next(p, n);
}

void *__libc_malloc (size_t n);  /* glibc's own */

void *malloc (size_t n) {
  if (n == refusing && n != 0) {
    times++;
    return NULL;
  }
  return __libc_malloc(n);
}

static int nostack;

int sigaltstack (const stack_t *to, stack_t *from) {
  int (*next) (const stack_t *, stack_t *) =
    (int (*) (const stack_t *, stack_t *))dlsym(RTLD_NEXT, "sigaltstack");
  if (nostack && to != NULL && !(to->ss_flags & SS_DISABLE)) {
    errno = EPERM;
    return -1;
  }
  return next(to, from);
}

static int l_nostack (lua_State *L) {
  nostack = lua_toboolean(L, 1);
  return 0;
}

static pid_t parent;

ssize_t write (int fd, const void *data, size_t n) {
  if (parent != 0 && getpid() != parent) kill(getpid(), SIGKILL);
  return (ssize_t)syscall(SYS_write, fd, data, n);
}

static int l_mortal (lua_State *L) {
  (void)L;
  parent = getpid();
  return 0;
}

static int l_refuse (lua_State *L) {
  refusing = (size_t)luaL_checkinteger(L, 1);
  return 0;
}

static int l_refused (lua_State *L) {
  lua_pushinteger(L, times);
  return 1;
}

int luaopen_refusing (lua_State *L);

int luaopen_refusing (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"refuse", l_refuse}, {"refused", l_refused}, {"nostack", l_nostack},
    {"mortal", l_mortal}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
