/* SPDX-License-Identifier: MIT */
/*
** A host with THREADS OS threads; each makes states, in turn, STATES in all, of which
** it keeps a few at a time. Prints for each state what it has allocated, as the state
** itself counts, and for all the sum, and how much of it they were born with, before a
** sampler could see it:
**   <bytes>
**   ...
**   sum <states> <bytes>
**   born <bytes>
** arguments: threads states kept script
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#include "seam.h"

enum { MOST = 64 };

static int states, kept;
static const char *script;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int made;
static unsigned long long sum, born;

static int take (void) {
  int n;
  pthread_mutex_lock(&lock);
  n = made < states ? ++made : 0;
  pthread_mutex_unlock(&lock);
  return n;
}

static void end (lua_State *L) {
  unsigned long long n;
  if (L == NULL) return;
  n = luaN_allocated(L);
  lua_close(L);
  pthread_mutex_lock(&lock);
  sum += n;
  printf("%llu\n", n);
  pthread_mutex_unlock(&lock);
}

static void *run (void *ud) {
  lua_State *list[MOST] = {NULL};
  int n, i;
  (void)ud;
  while ((n = take()) != 0) {
    lua_State *L = luaL_newstate();
    if (L == NULL) abort();
    pthread_mutex_lock(&lock);
    born += luaN_allocated(L);
    pthread_mutex_unlock(&lock);
    end(list[n % kept]);
    list[n % kept] = L;
    luaL_openlibs(L);
    lua_pushinteger(L, n);
    lua_setglobal(L, "N");
    if (luaL_dofile(L, script) != LUA_OK) {
      fprintf(stderr, "%s\n", lua_tostring(L, -1));
      abort();
    }
  }
  for (i = 0; i < kept; i++) end(list[i]);
  return NULL;
}

int main (int argc, char **argv) {
  pthread_t threads[MOST];
  int i, n = argc > 4 ? atoi(argv[1]) : 0;
  states = argc > 4 ? atoi(argv[2]) : 0;
  kept = argc > 4 ? atoi(argv[3]) : 0;
  if (n < 1 || n > MOST || kept < 1 || kept > MOST) return 2;
  script = argv[4];
  for (i = 0; i < n; i++) pthread_create(&threads[i], NULL, run, NULL);
  for (i = 0; i < n; i++) pthread_join(threads[i], NULL);
  printf("sum %d %llu\nborn %llu\n", made, sum, born);
  return 0;
}
