/* SPDX-License-Identifier: MIT */
/*
** A host program whose threads allocate memory outside of Lua, pass it to each other and free it,
** while each thread sometimes runs a separate state. At the end all of that memory is free, and
** the program prints "fine".
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

#define THREADS	6
#define PLACES	256
#define TIMES	100000

static void *places[PLACES];

static void *hand (void *ud) {
  unsigned seed = (unsigned)(long)ud;
  lua_State *L = luaL_newstate();
  int i;
  for (i = 0; i < TIMES; i++) {
    size_t size = 16 + (size_t)rand_r(&seed) % 4000;
    free(__atomic_exchange_n(&places[rand_r(&seed) % PLACES], malloc(size), __ATOMIC_ACQ_REL));
    if (i % 50 == 0 && luaL_dostring(L, "local t = {} for i = 1, 200 do t[i] = {i} end")) abort();
  }
  lua_close(L);
  return NULL;
}

int main (void) {
  pthread_t t[THREADS];
  lua_State *L = luaL_newstate();
  long i;
  for (i = 0; i < THREADS; i++) if (pthread_create(&t[i], NULL, hand, (void *)i) != 0) return 1;
  for (i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
  for (i = 0; i < PLACES; i++) free(places[i]);
  lua_close(L);
  puts("fine");
  return 0;
}
