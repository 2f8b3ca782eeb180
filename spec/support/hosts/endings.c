/* SPDX-License-Identifier: MIT */
/*
** A host program in which a thread, a state or the process ends while the others continue.
**   endings thread   the OS thread that created a state ends, and uses CPU time while it ends;
**                    another thread runs the state afterwards
**   endings fork     the process forks after 2.5 s of work; both processes continue for 2.5 s
**   endings pool     four states, created by the main thread, are run by two other threads, each
**                    state by both in turn, for 0.25 s of CPU time; in the second half they allocate
**                    nothing
**   endings cancel   threads with a pending cancellation create states, run, mark, write profiles and
**                    close the states, all before the next cancellation point; prints how many were
**                    cancelled earlier
**   endings exit     the process exits after some work, with an open state; the exit functions that
**                    were registered before the profiler's take 2.5 s
**   endings chroot FOLDER   FOLDER becomes the root folder; the process continues for 5 s
** It prints "fine" at the end.
*/
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

static lua_State *L;
static pthread_key_t key;

static void burn (void *ud) {
  struct timespec t;
  (void)ud;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  while (t.tv_sec == 0 && t.tv_nsec < 150000000);
}

static void *start (void *ud) {
  (void)ud;
  L = luaL_newstate();
  luaL_openlibs(L);
  /* this key is created after the profiler's own, so that its destructor runs later */
  pthread_key_create(&key, burn);
  pthread_setspecific(key, &key);
  luaL_dostring(L, "for i = 1, 100000 do local t = {i} end");
  return NULL;
}

#define POOL	4

static lua_State *pool[POOL];
static pthread_barrier_t turn;

static void *runpool (void *ud) {
  long me = (long)ud, i;
  for (i = 0; i < POOL; i++) {
    pthread_barrier_wait(&turn);
    lua_State *mine = pool[(i + me * (POOL / 2)) % POOL];
    luaL_dostring(mine, "local e, t = cpu() + 0.125, {} "
                        "while cpu() < e do for i = 1, 100 do t[i] = {i} end end "
                        "e = cpu() + 0.125 while cpu() < e do end");
  }
  return NULL;
}

static int cpu (lua_State *to) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  lua_pushnumber(to, (lua_Number)t.tv_sec + (lua_Number)t.tv_nsec / 1e9);
  return 1;
}

static int runpools (void) {
  pthread_t t[2];
  long i;
  for (i = 0; i < POOL; i++) {
    pool[i] = luaL_newstate();
    luaL_openlibs(pool[i]);
    lua_register(pool[i], "cpu", cpu);
  }
  pthread_barrier_init(&turn, NULL, 2);
  for (i = 0; i < 2; i++)
    if (pthread_create(&t[i], NULL, runpool, (void *)i) != 0) return 1;
  for (i = 0; i < 2; i++) pthread_join(t[i], NULL);
  for (i = 0; i < POOL; i++) lua_close(pool[i]);
  puts("fine");
  return 0;
}

#define CANCELLED	8

static lua_State *marking;

static void *cancelled (void *done) {
  lua_State *own;
  pthread_cancel(pthread_self());
  own = luaL_newstate();
  luaL_openlibs(own);
  luaL_dostring(own, "local t = {} for i = 1, 50000 do t[i % 1000] = {i} end");
  lua_close(own);
  if (marking != NULL) luaL_dostring(marking, "mark('it goes on') dump()");
  *(int *)done = 1;
  pthread_testcancel();
  return NULL;
}

static int cancel (void) {
  pthread_t t;
  int i, n = 0, done;
  void *result;
  for (i = 0; i < CANCELLED; i++) {
    /* creates this state only now, so that a thread has created the first state of the process */
    if (i == 1) {
      marking = luaL_newstate();
      luaL_openlibs(marking);
      if (luaL_dostring(marking, "local p = require 'profiler' mark, dump = p.mark, p.dump")) return 1;
    }
    done = 0;
    if (pthread_create(&t, NULL, cancelled, &done) != 0) return 1;
    pthread_join(t, &result);
    n += !done || result != PTHREAD_CANCELED;
  }
  lua_close(marking);
  if (n > 0) printf("%d\n", n);
  puts("fine");
  return 0;
}

static void linger (void) {
  usleep(2500000);
}

/*
** Allocates a little and pauses, for 2.5 s: rotations of files depend on time and samples, not on
** CPU time.
*/
static void work (void) {
  int i;
  for (i = 0; i < 50; i++) {
    luaL_dostring(L, "local t = {} for i = 1, 3000 do t[i % 100] = {i} end");
    usleep(50000);
  }
}

int main (int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "thread") == 0) {
    pthread_t t;
    if (pthread_create(&t, NULL, start, NULL) != 0) return 1;
    pthread_join(t, NULL);
    luaL_dostring(L, "for i = 1, 1000000 do local t = {i} end");
  }
  else if (argc > 1 && strcmp(argv[1], "pool") == 0) return runpools();
  else if (argc > 1 && strcmp(argv[1], "cancel") == 0) return cancel();
  else if (argc > 1 && strcmp(argv[1], "exit") == 0) {
    atexit(linger);
    start(NULL);
    puts("fine");
    exit(0);
  }
  else if (argc > 2) {
    int i;
    start(NULL);
    if (chroot(argv[2]) != 0 || chdir("/") != 0) return 1;
    for (i = 0; i < 2; i++) work();
  }
  else {
    pid_t child;
    start(NULL);
    work();
    child = fork();
    work();
    if (child == 0) {
      lua_close(L);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  lua_close(L);
  puts("fine");
  return 0;
}
