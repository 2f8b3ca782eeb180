/* SPDX-License-Identifier: MIT */
/*
** A host program whose OS threads run states, and pass them to the main thread, which closes them.
** Meanwhile each thread runs a state of its own. At the end the program prints the number of closed
** states.
** arguments: threads, states of each thread
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

enum { MOST = 16, QUEUE = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static lua_State *queue[QUEUE];	/* states to be closed */
static int queued;
static int running;	/* number of threads that have not ended */
static int states;

static lua_State *make (void) {
  lua_State *L = luaL_newstate();
  if (L == NULL) abort();
  luaL_openlibs(L);
  return L;
}

static void work (lua_State *L) {
  if (luaL_dostring(L, "local t = {} for i = 1, 20000 do t[i % 50] = {i} end") == LUA_OK) return;
  fprintf(stderr, "%s\n", lua_tostring(L, -1));
  abort();
}

static void pass (lua_State *L) {
  pthread_mutex_lock(&lock);
  if (L != NULL) queue[queued++] = L;
  else running--;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
}

static void *run (void *ud) {
  lua_State *own = make();
  int i;
  for (i = 0; i < states; i++) {
    lua_State *L = make();
    work(L);
    work(own);
    pass(L);
    work(own);
    usleep(10);  /* ThreadSanitizer calls signal handlers in functions that it intercepts */
    work(own);
  }
  lua_close(own);
  pass(NULL);
  return ud;
}

int main (int argc, char **argv) {
  pthread_t threads[MOST];
  int i, closed = 0, n = argc == 3 ? atoi(argv[1]) : 0;
  states = argc == 3 ? atoi(argv[2]) : 0;
  if (n < 1 || n > MOST || n * states > QUEUE) return 2;
  running = n;
  for (i = 0; i < n; i++) pthread_create(&threads[i], NULL, run, NULL);
  pthread_mutex_lock(&lock);
  while (running > 0 || queued > 0) {
    if (queued == 0) pthread_cond_wait(&changed, &lock);
    else {
      lua_State *L = queue[--queued];
      pthread_mutex_unlock(&lock);
      lua_close(L);
      closed++;
      pthread_mutex_lock(&lock);
    }
  }
  pthread_mutex_unlock(&lock);
  for (i = 0; i < n; i++) pthread_join(threads[i], NULL);
  printf("%d\n", closed);
  return 0;
}
