/* SPDX-License-Identifier: MIT */
/*
** failing [most=N] [name=PROGRAM]: runs each program of programs.c many times. In run k (k is 1,
** 2, 3 and up) lua_Alloc refuses the k-th memory request. This ends when the program makes fewer than k
** requests, or when k exceeds N. Then all of this is repeated, but run k refuses all later
** requests, too.
**
** A run must succeed or end with LUA_ERRMEM, or must fail to create a state. Afterwards the state
** must be usable and close without a leak, and luaN_check must succeed if the Lua has this
** function. The exit status is 0, 1 (a failure) or 2 (wrong arguments).
**
** The Lua function 'load' returns the error "not enough memory" as a message. A program that
** raises this message ends with LUA_ERRRUN, which is allowed if a request was refused.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

#include "programs.h"

extern const char *luaN_check (lua_State *L) __attribute__((weak));

static struct {
  size_t bytes;
  unsigned long requests, k, refused;
  int lasting;
} memory;

static const Program *running;

static void wrong (const char *what, const char *more) {
  fprintf(stderr, "failing: %s, request %lu%s refused: %s %s\n", running->name, memory.k,
          memory.lasting ? " and later ones" : "", what, more ? more : "");
  _Exit(1);
}

static void *allocate (void *ud, void *block, size_t old, size_t size) {
  void *p;
  (void)ud;
  if (block == NULL) old = 0;
  if (size == 0) {
    free(block);
    memory.bytes -= old;
    return NULL;
  }
  if (size > old) {
    memory.requests++;
    if (memory.requests == memory.k || (memory.lasting && memory.requests > memory.k)) {
      memory.refused++;
      return NULL;
    }
  }
  p = realloc(block, size);
  if (p != NULL) memory.bytes += size - old;
  return p;
}

static int protected_run (lua_State *L) {
  luaL_openlibs(L);
  if (luaL_loadstring(L, running->text) != LUA_OK) return lua_error(L);
  lua_call(L, 0, 0);
  return 0;
}

static int usable (lua_State *L) {
  int i;
  lua_newtable(L);
  for (i = 1; i <= 100; i++) {
    lua_pushfstring(L, "entry %d", i);
    lua_newtable(L);
    lua_rawset(L, 1);
  }
  lua_gc(L, LUA_GCCOLLECT);
  lua_getfield(L, 1, "entry 77");
  if (!lua_istable(L, -1)) return luaL_error(L, "a field is lost");
  return 0;
}

/* Returns 1 if a request was refused and the program's error says that memory is lacking. */
static int excused (lua_State *L, int status) {
  const char *message = lua_tostring(L, -1);
  if (memory.refused == 0) return 0;
  return status == LUA_ERRMEM || (message && strstr(message, "not enough memory"));
}

static void check (lua_State *L) {
  const char *why = luaN_check ? luaN_check(L) : NULL;
  if (why) wrong("luaN_check:", why);
}

static void run (void) {
  lua_State *L;
  int status;
  memory.requests = memory.refused = 0;
  L = lua_newstate(allocate, NULL);
  if (L == NULL) {
    if (memory.refused == 0) wrong("no state", NULL);
  }
  else {
    lua_pushcfunction(L, protected_run);
    status = lua_pcall(L, 0, 0, 0);
    if (status != LUA_OK && !excused(L, status)) wrong("ended with", lua_tostring(L, -1));
    check(L);
    memory.lasting = 0;
    memory.k = 0;
    lua_settop(L, 0);
    lua_pushcfunction(L, usable);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK) wrong("afterwards:", lua_tostring(L, -1));
    check(L);
    lua_close(L);
  }
  if (memory.bytes != 0) wrong("bytes leaked", NULL);
}

/*
** Runs the program with k = 1, 2, 3, ..., but at most 'most'. In run k, the k-th request is
** refused; if 'lasting' is set, all later ones are refused, too. Returns the number of runs.
*/
static unsigned long series (int lasting, unsigned long most) {
  unsigned long k;
  for (k = 1; k <= most; k++) {
    memory.k = k;
    memory.lasting = lasting;
    run();
    if (memory.refused == 0) break;
  }
  return k;
}

int main (int argc, char **argv) {
  unsigned long most = (unsigned long)-1;
  const char *name = NULL;
  int i, found = 0;
  for (i = 1; i < argc; i++) {
    char *end = "x";
    if (strncmp(argv[i], "most=", 5) == 0) most = strtoul(argv[i] + 5, &end, 10);
    else if (strncmp(argv[i], "name=", 5) == 0) name = argv[i] + 5, end = "";
    if (*end != '\0') {
      fprintf(stderr, "failing: bad argument '%s'; use: failing [most=N] [name=PROGRAM]\n", argv[i]);
      return 2;
    }
  }
  for (running = programs; running->name; running++) {
    if (name && strcmp(name, running->name) != 0) continue;
    found = 1;
    printf("%s: %lu runs with one request refused", running->name, series(0, most));
    printf(", %lu with all from it on\n", series(1, most));
  }
  if (!found) fprintf(stderr, "failing: no program named '%s'\n", name);
  return found ? 0 : 2;
}
