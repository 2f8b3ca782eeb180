/* SPDX-License-Identifier: MIT */
/*
** entering [fork|close]: one OS thread takes a tick of a state (luaN_interrupt). In the middle of
** this, its access to the luaN_Moment causes a fault, and the handler of SIGSEGV lets another OS
** thread, or a child process that this thread forks, run the state. With "close" the other thread
** closes it. Prints "during" if that code ran before the end of the tick, else "after". With "fork"
** the tick does not end in the child: prints "child" and the child's status.
*/
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

#include "seam.h"

static lua_State *L;
static luaN_Moment *moment;
static sem_t go;
static volatile int hasrun, early, isforking, isclosing;
static luaN_Sampler sampler;

static int run (void) {
  int status = luaL_dostring(L, "local n = 0 for i = 1, 1000 do n = n + i end return n");
  return status == LUA_OK && lua_tointeger(L, -1) == 500500;
}

/* Called by lua_close before it changes the state. */
static void closing (void *ud, lua_State *of) {
  (void)ud;
  (void)of;
  hasrun = 1;
}

static void *other (void *ud) {
  (void)ud;
  while (sem_wait(&go) != 0) ;
  if (isclosing) {
    lua_close(L);
    return NULL;
  }
  if (isforking) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) _exit(run() ? 7 : 1);
    waitpid(child, &status, 0);
    printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    hasrun = 1;
  }
  else hasrun = run();
  return NULL;
}

static void fault (int signal) {
  const struct timespec nap = {0, 1000000};
  int i;
  (void)signal;
  sem_post(&go);
  for (i = 0; i < (isforking ? 30000 : 100) && !hasrun; i++) nanosleep(&nap, NULL);
  early = hasrun;
  mprotect(moment, sizeof(*moment), PROT_READ | PROT_WRITE);
}

int main (int argc, char **argv) {
  pthread_t thread;
  luaN_Registers registers;
  int taken;
  isforking = (argc > 1 && strcmp(argv[1], "fork") == 0);
  isclosing = (argc > 1 && strcmp(argv[1], "close") == 0);
  L = luaL_newstate();
  if (L == NULL || !run() || sem_init(&go, 0, 0) != 0) return 2;
  sampler.closing = closing;
  if (isclosing) luaN_setsampler(L, &sampler, (size_t)1 << 30);
  memset(&registers, 0, sizeof(registers));
  moment = mmap(NULL, sizeof(*moment), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (moment == MAP_FAILED) return 2;
  signal(SIGSEGV, fault);
  pthread_create(&thread, NULL, other, NULL);
  taken = luaN_interrupt(L, &registers, moment);
  pthread_join(thread, NULL);
  if (!taken || moment->L != L || !hasrun) return 3;
  if (!isforking) puts(early ? "during" : "after");
  if (!isclosing) lua_close(L);
  return 0;
}
