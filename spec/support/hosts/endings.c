/* SPDX-License-Identifier: MIT */
/*
** A host in which something ends while something else goes on.
**   endings thread   the OS thread that made a state ends, and works while it does; the state
**                    is run by another
**   endings fork     after 2.5 s of work the process forks; both go on for as long
** Prints "fine".
*/
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
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

static void *begin (void *ud) {
  (void)ud;
  L = luaL_newstate();
  luaL_openlibs(L);
  pthread_key_create(&key, burn);  /* behind the profiler's own key */
  pthread_setspecific(key, &key);
  luaL_dostring(L, "for i = 1, 100000 do local t = {i} end");
  return NULL;
}

static void work (void) {
  luaL_dostring(L, "local e = os.clock() + 2.5 local t = {} "
                   "while os.clock() < e do for i = 1, 100 do t[i] = {i} end end");
}

int main (int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "thread") == 0) {
    pthread_t t;
    if (pthread_create(&t, NULL, begin, NULL) != 0) return 1;
    pthread_join(t, NULL);
    luaL_dostring(L, "for i = 1, 1000000 do local t = {i} end");
  }
  else {
    pid_t child;
    begin(NULL);
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
