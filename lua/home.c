/* SPDX-License-Identifier: MIT */
/* Finds the folder in which this Lua is installed (home.h). */
#define _GNU_SOURCE

#include "lua.h"

#include "home.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The installation folder that was configured when Lua was built. 'volatile' makes the program read
   the string at run time, because an installer may replace the string in the library's file. */
static const char *const volatile built = LUAN_HOME;

static char found[PATH_MAX];


int luaN_homeof (int i, char *home) {
  Dl_info info;
  char *slash;
  if (i == 2) return snprintf(home, PATH_MAX, "%s", built) < PATH_MAX;
  if (i > 2) return 0;
  if (i == 1) {
    if (realpath("/proc/self/exe", home) == NULL) *home = '\0';
  }
  else if (dladdr((void *)(size_t)&luaN_homeof, &info) == 0 || info.dli_fname == NULL ||
           realpath(info.dli_fname, home) == NULL) *home = '\0';
  slash = strrchr(home, '/');
  if (slash != NULL) *slash = '\0';
  slash = strrchr(home, '/');
  if (slash != NULL) *slash = '\0';
  return 1;
}


static void findhome (void) {
  char path[PATH_MAX + 32];
  int i;
  for (i = 0; luaN_homeof(i, found); i++) {
    snprintf(path, sizeof(path), "%s/share/asamp/profiler.lua", found);
    if (access(path, R_OK) == 0) return;
  }
  snprintf(found, sizeof(found), "%s", built);
}


const char *luaN_home (void) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  pthread_once(&control, findhome);
  return found;
}


const char *luaN_pushhome (lua_State *L, const char *below) {
  return lua_pushfstring(L, "%s%s", luaN_home(), below);
}
