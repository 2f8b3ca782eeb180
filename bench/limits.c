/*
** SPDX-License-Identifier: MIT
** Runs a script in new states whose lua_Alloc has a limit, for bench/limits. It is linked with
** the liblua.a to be measured:
**   limits least SCRIPT STEP MOST      prints the first of the limits STEP, 2 STEP, ... in which the
**                                      script succeeds; 0 if it fails in all limits up to MOST
**   limits sweep SCRIPT STEP FROM TO   tries the limits FROM, FROM + STEP, ... up to TO; prints a line
**                                      for each limit in which the script fails: limit, error message
** All numbers are KiB. A limit is the largest number of bytes that a state may have obtained from
** lua_Alloc. Scripts can use the standard libraries and newdata(n), which returns a userdata of n
** bytes with a finalizer. If a run takes SECONDS of CPU time, this program ends with an error. It
** uses only the public API, so that any Lua 5.4 can be measured.
*/
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

#define SECONDS 20  /* largest CPU time of one run, in seconds */

typedef struct Limit {
  size_t used, limit;  /* bytes */
} Limit;

/* A lua_Alloc that returns NULL when the bytes in use would exceed the limit. 'ud' is the Limit. */
static void *limited (void *ud, void *block, size_t osize, size_t nsize) {
  Limit *l = ud;
  void *fresh = NULL;
  /* lua_Alloc: if 'block' is NULL, osize is the type of the new object, not a size */
  if (block == NULL) osize = 0;
  if (nsize > osize && nsize - osize > l->limit - l->used) return NULL;
  if (nsize == 0) free(block);
  else if ((fresh = realloc(block, nsize)) == NULL) return NULL;
  l->used += nsize - osize;
  return fresh;
}

static void fail (const char *message) {
  fprintf(stderr, "limits: %s\n", message);
  exit(2);
}

/* Handler of SIGPROF, which arrives when a run has used SECONDS of CPU time. Ends the program. */
static void expire (int signal) {
  static const char message[] = "limits: a run has used all of its CPU time\n";
  (void)signal;
  if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0) _exit(3);
  _exit(2);
}

/* The finalizer of the userdata of newdata. It sets the user value to nil. */
static int collected (lua_State *L) {
  lua_pushnil(L);
  lua_setiuservalue(L, 1, 1);
  return 0;
}

static int newdata (lua_State *L) {
  size_t size = (size_t)luaL_checkinteger(L, 1);
  memset(lua_newuserdatauv(L, size, 1), 0, size);
  if (luaL_newmetatable(L, "limits.data")) {
    lua_pushcfunction(L, collected);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return 1;
}

static int openall (lua_State *L) {
  luaL_openlibs(L);
  lua_register(L, "newdata", newdata);
  return 0;
}

static char script[1 << 16];
static size_t scriptsize;

static void readscript (const char *path) {
  FILE *f = fopen(path, "r");
  if (f == NULL) fail("cannot read the script");
  scriptsize = fread(script, 1, sizeof(script), f);
  fclose(f);
}

/*
** Runs the script in a new state with a limit of 'kib' KiB. Returns 1 if it succeeds. Otherwise
** returns 0, and copies the error message to 'message' ('size' bytes).
*/
static int fits (size_t kib, char *message, size_t size) {
  Limit l = {0, kib << 10};
  struct itimerval time = {{0, 0}, {SECONDS, 0}};
  lua_State *L = lua_newstate(limited, &l);
  int good;
  if (L == NULL) {
    snprintf(message, size, "no state");
    return 0;
  }
  setitimer(ITIMER_PROF, &time, NULL);
  lua_pushcfunction(L, openall);
  good = (lua_pcall(L, 0, 0, 0) == LUA_OK
          && luaL_loadbuffer(L, script, scriptsize, "=script") == LUA_OK
          && lua_pcall(L, 0, 0, 0) == LUA_OK);
  if (!good)
    snprintf(message, size, "%s", lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "an error");
  lua_close(L);
  if (l.used != 0) fail("lua_close has not freed all memory");
  return good;
}

int main (int argc, char **argv) {
  char message[200];
  size_t step, kib, to;
  if (argc < 5) fail("the first argument must be least or sweep, then its arguments; see the head "
                     "of bench/limits.c");
  signal(SIGPROF, expire);
  readscript(argv[2]);
  step = strtoul(argv[3], NULL, 10);
  if (step == 0) fail("STEP must be positive");
  if (strcmp(argv[1], "least") == 0) {
    to = strtoul(argv[4], NULL, 10);
    for (kib = step; kib <= to && !fits(kib, message, sizeof(message)); kib += step) ;
    printf("%zu\n", kib <= to ? kib : 0);
  }
  else if (strcmp(argv[1], "sweep") == 0 && argc == 6) {
    to = strtoul(argv[5], NULL, 10);
    for (kib = strtoul(argv[4], NULL, 10); kib <= to; kib += step)
      if (!fits(kib, message, sizeof(message)))
        printf("%zu %.*s\n", kib, (int)strcspn(message, "\n"), message);
  }
  else fail("the first argument must be least or sweep, then its arguments; see the head of "
            "bench/limits.c");
  return 0;
}
