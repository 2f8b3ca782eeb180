/* SPDX-License-Identifier: MIT */
/*
** loading: a Lua module with the functions of asamp/unwind/loaded.c, compiled as for a glibc before
** 2.35 (LOADED_OLD), which has no _dl_find_object. The functions then keep a table of object files.
**
**   isold() -> true if the table is in use
**   agrees(name) -> true if the table and the loader report the same start for the object file that
**     contains the process's function 'name'
**   late(path): loads an object file -> three booleans: whether the table has it before a refresh,
**     after a refresh, and after it was unloaded and one more refresh
**   race(path, n): loads and unloads the object file n times, with refreshes, while another OS
**     thread and a timer's signal handler on this thread look up one address -> the numbers of
**     lookups and of wrong results
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <lua.h>
#include <lauxlib.h>

#include "loaded.h"

static Loaded mine;  /* the object file that contains this module */
static int stop;
static unsigned long lookups, wrong;


static int loading_isold (lua_State *L) {
  lua_pushboolean(L, loaded_refresh() >= 0 && loaded_isold());
  return 1;
}


static int loading_agrees (lua_State *L) {
  void *address = dlsym(RTLD_DEFAULT, luaL_checkstring(L, 1));
  Dl_info info;
  Loaded o;
  loaded_refresh();
  luaL_argcheck(L, address != NULL && dladdr(address, &info) != 0, 1, "no such function");
  lua_pushboolean(L, loaded_find(address, &o) && o.from == (const char *)info.dli_fbase &&
                     (const char *)address < o.to && o.table != NULL);
  return 1;
}


static int loading_late (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  void *handle, *address;
  Loaded o;
  loaded_refresh();
  handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (handle == NULL) return luaL_error(L, "%s", dlerror());
  address = dlsym(handle, "late");
  lua_pushboolean(L, loaded_find(address, &o));
  loaded_refresh();
  lua_pushboolean(L, loaded_find(address, &o));
  dlclose(handle);
  loaded_refresh();
  lua_pushboolean(L, loaded_find(address, &o));
  return 3;
}


static void look (int s) {
  Loaded o;
  (void)s;
  if (!loaded_find((const void *)(size_t)&look, &o) || o.from != mine.from || o.to != mine.to ||
      o.table != mine.table)
    __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&lookups, 1, __ATOMIC_RELAXED);
}


static void *others (void *ud) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) look(0);
  return ud;
}


static int loading_race (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  lua_Integer i, n = luaL_checkinteger(L, 2);
  struct itimerval beat = {{0, 100}, {0, 100}}, none = {{0, 0}, {0, 0}};
  struct sigaction to, before;
  pthread_t thread;
  loaded_refresh();
  if (!loaded_find((const void *)(size_t)&look, &mine)) return luaL_error(L, "not found");
  sigemptyset(&to.sa_mask);
  to.sa_flags = SA_RESTART;
  to.sa_handler = look;
  sigaction(SIGALRM, &to, &before);
  if (pthread_create(&thread, NULL, others, NULL) != 0) return luaL_error(L, "no thread");
  setitimer(ITIMER_REAL, &beat, NULL);
  for (i = 0; i < n; i++) {
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    loaded_refresh();
    if (handle != NULL) dlclose(handle);
    loaded_refresh();
  }
  setitimer(ITIMER_REAL, &none, NULL);
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
  sigaction(SIGALRM, &before, NULL);
  lua_pushinteger(L, (lua_Integer)lookups);
  lua_pushinteger(L, (lua_Integer)wrong);
  return 2;
}


int luaopen_loading (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"isold", loading_isold}, {"agrees", loading_agrees}, {"late", loading_late},
    {"race", loading_race}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
