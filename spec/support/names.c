/* SPDX-License-Identifier: MIT */
/*
** names: a Lua module that finds names of native addresses. Debug files are in build/spec/debug.
**
**   name(address)      -> name, path of the object file; "" if unknown
**   libc(function)     -> its address; of an indirect function, the address of the chosen
**                         implementation
**   open(path, symbol) -> address of the symbol; the library stays loaded until close()
**   close()               closes the opened libraries
**   word(address)      -> the word at the address
**   page()             -> address of memory that belongs to no file
**   caller()           -> address in the function that called main
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdint.h>
#include <sys/mman.h>

#include <lua.h>
#include <lauxlib.h>

#include "native.h"

#define MOST	100

static void *opened[MOST];
static int nopened;

static int l_name (lua_State *L) {
  char symbol[256], file[1024];
  native_name(NULL, (uint64_t)luaL_checkinteger(L, 1), symbol, sizeof(symbol), file,
              sizeof(file));
  lua_pushstring(L, symbol);
  lua_pushstring(L, file);
  return 2;
}

static int pushaddress (lua_State *L, const void *p) {
  if (p == NULL) return luaL_error(L, "not found");
  lua_pushinteger(L, (lua_Integer)(uintptr_t)p);
  return 1;
}

static int l_libc (lua_State *L) {
  return pushaddress(L, dlsym(RTLD_NEXT, luaL_checkstring(L, 1)));
}

static int l_open (lua_State *L) {
  void *h = dlopen(luaL_checkstring(L, 1), RTLD_NOW);
  if (h == NULL || nopened == MOST) return luaL_error(L, "cannot open it");
  opened[nopened++] = h;
  return pushaddress(L, dlsym(h, luaL_checkstring(L, 2)));
}

static int l_close (lua_State *L) {
  (void)L;
  while (nopened > 0) dlclose(opened[--nopened]);
  return 0;
}

static int l_word (lua_State *L) {
  return pushaddress(L, *(void *const *)(uintptr_t)luaL_checkinteger(L, 1));
}

static int l_page (lua_State *L) {
  return pushaddress(L, mmap(NULL, 4096, PROT_READ | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

/* Pushes a code address in the function that called main. It is the third outermost C frame. */
static int l_caller (lua_State *L) {
  void *a[1024];
  int n = backtrace(a, 1024);
  return pushaddress(L, (n >= 3) ? (char *)a[n - 3] - 1 : NULL);
}

int luaopen_names (lua_State *L);

int luaopen_names (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"name", l_name}, {"libc", l_libc}, {"open", l_open}, {"close", l_close}, {"word", l_word}, {"page", l_page},
    {"caller", l_caller}, {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
