/* SPDX-License-Identifier: MIT */
/*
** destructor N: a host program that runs N threads, one after the other. Each thread creates a
** Lua state, runs and closes it, and then creates another one in a destructor of its thread-local
** data. The program prints the number of open descriptors of the process after the first thread
** and after the last one.
*/
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <lua.h>
#include <lauxlib.h>

static pthread_key_t key;

static void work (void *ud) {
  lua_State *L = luaL_newstate();
  (void)ud;
  if (luaL_dostring(L, "for i = 1, 1000 do local t = {i} end") != LUA_OK) exit(1);
  lua_close(L);
}


static void *run (void *ud) {
  work(ud);
  pthread_setspecific(key, &key);
  return NULL;
}


static int descriptors (void) {
  DIR *d = opendir("/proc/self/fd");
  int n = 0;
  while (readdir(d) != NULL) n++;
  closedir(d);
  return n;
}


int main (int argc, char **argv) {
  int i, n = atoi(argv[1]);
  (void)argc;
  work(NULL);
  /* this key is created after the profiler's keys, so that its destructor runs after theirs */
  pthread_key_create(&key, work);
  for (i = 0; i < n; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) != 0) return 1;
    pthread_join(thread, NULL);
    if (i == 0 || i == n - 1) printf("%d\n", descriptors());
  }
  return 0;
}
