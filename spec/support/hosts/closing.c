/* SPDX-License-Identifier: MIT */
/*
** A host program that creates states with luaL_newstate and closes them. It prints resident KiB and
** counts:
**   closing together N   has N states at the same time: resident KiB before they are created, with
**                        all of them, and after the last one is closed
**   closing in-turn N    has N states, one at a time: the same numbers
**   closing requests N   has N states, one at a time, each of which keeps 6 MiB of tables: the minor
**                        page faults of each state after the first three, and the resident KiB
**                        before all states, after the last one, and after another one that is
**                        closed more than a second later
** At the end each action prints the number of calls of malloc_trim.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

static int trims;

/* Replaces malloc_trim of the C library to count its calls. */
int malloc_trim (size_t pad) {
  int (*real) (size_t) = (int (*) (size_t))dlsym(RTLD_NEXT, "malloc_trim");
  trims++;
  return real(pad);
}

static long resident (void) {
  long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f == NULL || fscanf(f, "%*s %ld", &pages) != 1) abort();
  fclose(f);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static lua_State *newstate (void) {
  lua_State *L = luaL_newstate();
  if (L == NULL) abort();
  luaL_openlibs(L);
  return L;
}

static void together (lua_State **all, int n) {
  long before = resident(), most;
  int i;
  for (i = 0; i < n; i++) all[i] = newstate();
  most = resident();
  for (i = 0; i < n; i++) lua_close(all[i]);
  printf("%ld %ld %ld ", before, most, resident());
}

static void request (void) {
  lua_State *L = newstate();
  if (luaL_dostring(L, "local t = {} for i = 1, 80000 do t[i] = {i} end")) abort();
  lua_close(L);
}

static long faults (void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return u.ru_minflt;
}

static void requests (int n) {
  long before = resident(), start, last;
  int i;
  for (i = 0; i < 3; i++) request();
  start = faults();
  for (i = 0; i < n; i++) request();
  start = (faults() - start) / n;
  last = resident();
  usleep(1200000);
  lua_close(newstate());
  printf("%ld %ld %ld %ld ", start, before, last, resident());
}

int main (int argc, char **argv) {
  int n = (argc > 2) ? atoi(argv[2]) : 0, i;
  lua_State **all = malloc(((size_t)n + 1) * sizeof(*all));
  memset(all, 0, (size_t)n * sizeof(*all));
  lua_close(newstate());
  if (argc > 1 && strcmp(argv[1], "together") == 0) together(all, n);
  else if (argc > 1 && strcmp(argv[1], "requests") == 0) requests(n);
  else for (i = 0; i < n; i++) lua_close(newstate());
  printf("%d\n", trims);
  free(all);
  return 0;
}
