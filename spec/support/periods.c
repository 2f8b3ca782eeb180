/* SPDX-License-Identifier: MIT */
/*
** periods: a library for LD_PRELOAD, which is also loaded as a Lua module. It counts the calls of
** ioctl that set the period of a perf event. Its function least() returns their number and the
** shortest of these periods in ns.
*/
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

static volatile uint64_t times, least = UINT64_MAX;

int ioctl (int fd, unsigned long request, ...) {
  va_list list;
  void *argument;
  va_start(list, request);
  argument = va_arg(list, void *);
  va_end(list);
  if (request == PERF_EVENT_IOC_PERIOD) {
    uint64_t period = *(const uint64_t *)argument;
    times++;
    if (period < least) least = period;
  }
  return (int)syscall(SYS_ioctl, fd, request, argument);
}

static int l_least (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)times);
  lua_pushinteger(L, (lua_Integer)least);
  return 2;
}

int luaopen_periods (lua_State *L) {
  lua_pushcfunction(L, l_least);
  return 1;
}
