/* SPDX-License-Identifier: MIT */
/*
** A host program whose threads, one after the other, each run a state. The states stay open until the
** process ends. It prints the number of bytes that the states have allocated since they were created,
** by the states' own counts. Argument:
**   ended     each thread ends before the process does
**   waiting   each thread waits until the process ends
**   moved     the same as ended, but the main thread has run each state before
**   inside    one state runs another one, in which the process ends
*/
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"
#include "seam.h"

#define THREADS	20

static int iswaiting;
static sem_t ran;
static lua_State *L[THREADS];
static unsigned long long born[THREADS];

static void run (lua_State *L, const char *code) {
  if (luaL_dostring(L, code)) abort();
}

static void *work (void *ud) {
  run(ud, "local t = {} for i = 1, 30000 do t[i % 99] = {i} end");
  sem_post(&ran);
  while (iswaiting) pause();
  return NULL;
}

static void create (int i) {
  L[i] = luaL_newstate();
  born[i] = luaN_allocated(L[i]);
}

static void report (void) {
  unsigned long long sum = 0;
  int i;
  for (i = 0; i < THREADS; i++)
    if (L[i] != NULL) sum += luaN_allocated(L[i]) - born[i];
  printf("%llu\n", sum);
}

static int leave (lua_State *from) {
  (void)from;
  report();
  exit(0);
}

static int inside (lua_State *from) {
  (void)from;
  create(1);
  lua_register(L[1], "leave", leave);
  run(L[1], "local t = {} for i = 1, 400 do t[i] = {} end leave()");
  return 0;
}

int main (int argc, char **argv) {
  pthread_t t;
  int i;
  if (argc != 2) return 2;
  if (strcmp(argv[1], "inside") == 0) {
    create(0);
    lua_register(L[0], "inside", inside);
    run(L[0], "local t = {} for i = 1, 400 do t[i] = {} end inside()");
  }
  iswaiting = (strcmp(argv[1], "waiting") == 0);
  sem_init(&ran, 0, 0);
  for (i = 0; i < THREADS; i++) {
    create(i);
    if (strcmp(argv[1], "moved") == 0) run(L[i], "local t = {} for i = 1, 300 do t[i] = {} end");
    if (pthread_create(&t, NULL, work, L[i]) != 0) return 1;
    sem_wait(&ran);
    if (!iswaiting) pthread_join(t, NULL);
  }
  report();
  return 0;
}
