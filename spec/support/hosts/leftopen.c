/* SPDX-License-Identifier: MIT */
/* A host whose threads, one after the other, each run a state and end. The states stay open until
   the process ends. */
#include <pthread.h>
#include <stdlib.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

#define THREADS	20

static void *work (void *ud) {
  if (luaL_dostring(ud, "local t = {} for i = 1, 30000 do t[i % 99] = {i} end")) abort();
  return NULL;
}

int main (void) {
  pthread_t t;
  int i;
  for (i = 0; i < THREADS; i++) {
    if (pthread_create(&t, NULL, work, luaL_newstate()) != 0) return 1;
    pthread_join(t, NULL);
  }
  return 0;
}
