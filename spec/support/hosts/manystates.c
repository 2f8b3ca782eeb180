/* SPDX-License-Identifier: MIT */
/*
** A host program with THREADS OS threads. Each creates states, one after the other, STATES in all, of
** which it keeps the last KEPT open. For each state it prints the bytes that the state has allocated
** since it was created, by the state's own count, and for all states the sum:
**   <bytes>
**   ...
**   sum <states> <bytes>
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
static unsigned long long sum;

typedef struct State {
  lua_State *L;
  unsigned long long born;	/* bytes that the state had allocated when luaL_newstate returned */
} State;

static int take (void) {
  int n;
  pthread_mutex_lock(&lock);
  n = made < states ? ++made : 0;
  pthread_mutex_unlock(&lock);
  return n;
}

static void end (State s) {
  unsigned long long n;
  if (s.L == NULL) return;
  n = luaN_allocated(s.L) - s.born;
  lua_close(s.L);
  pthread_mutex_lock(&lock);
  sum += n;
  printf("%llu\n", n);
  pthread_mutex_unlock(&lock);
}

static void *run (void *ud) {
  State list[MOST] = {{NULL, 0}};
  int n, i;
  (void)ud;
  while ((n = take()) != 0) {
    lua_State *L = luaL_newstate();
    if (L == NULL) abort();
    end(list[n % kept]);
    list[n % kept] = (State){L, luaN_allocated(L)};
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
  printf("sum %d %llu\n", made, sum);
  return 0;
}
