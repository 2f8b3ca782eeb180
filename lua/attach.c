/* SPDX-License-Identifier: MIT */
/* Loads the profiler's module if the environment variable ASAMP is set, and passes each new Lua
   state to it (attach.h). */
#define _GNU_SOURCE

#include "lprefix.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua.h"

#include "lstate.h"

#include "attach.h"
#include "home.h"

/* Paths of the profiler's module relative to an installation folder: the path to which this
   project's installation copies the module, and the path that LuaRocks uses. */
static const char *const modules[] = {
    "/lib/asamp/profiler/core.so", "/lib/lua/5.4/profiler/core.so"};

/* Type of the module's function asamp_setup, which is called once, with the value of ASAMP and the
   installation folder. Returns 1 if asamp_join may be called; otherwise reports the reason and
   returns 0. */
typedef int Setup (const char *wish, const char *home);
/* Type of the module's function asamp_join, which starts to profile a new, initialized state. */
typedef void Join (lua_State *L);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int tried;	/* 1: the search for the profiler's module has started */
static Join *join;	/* asamp_join of the module; NULL: states are not profiled */
/* 1 while this OS thread runs asamp_setup. Lua states that asamp_setup creates are not profiled. */
static __thread int busy __attribute__((tls_model("initial-exec")));


/* Copies the message of dlerror to 'to', with '?' for bytes that are not printable ASCII, because
   paths in the message could control a terminal. */
static void getreason (char *to, size_t size) {
  const char *error = dlerror();
  snprintf(to, size, "%s", error != NULL ? error : "");
  for (; *to != '\0'; to++)
    if (*to < ' ' || *to > '~') *to = '?';
}


static void *findmodule (char *home) {
  char path[PATH_MAX + 64], error[2 * PATH_MAX] = "";
  int i;
  for (i = 0; luaN_homeof(i / 2, home); i++) {
    void *module;
    snprintf(path, sizeof(path), "%s%s", home, modules[i % 2]);
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module != NULL) return module;
    if (i % 2 == 0) getreason(error, sizeof(error));
  }
  fprintf(stderr, "profiler: ASAMP is set, but the profiler's module cannot be loaded (%s); "
                  "nothing is profiled\n", error);
  return NULL;
}


static void load (const char *wish) {
  char home[PATH_MAX];
  void *module = findmodule(home);
  Setup *setup;
  if (module == NULL) return;
  *(void **)&setup = dlsym(module, "asamp_setup");
  *(void **)&join = dlsym(module, "asamp_join");
  if (setup == NULL || join == NULL || !setup(wish, home)) join = NULL;
}


static Join *attach_find (const char *wish) {
  Join *found;
  pthread_mutex_lock(&lock);
  if (!tried) {
    tried = busy = 1;
    load(wish);
    busy = 0;
  }
  found = join;
  pthread_mutex_unlock(&lock);
  return found;
}


static const char *wished (void) {
  const char *wish = secure_getenv("ASAMP");
  return (wish != NULL && *wish != '\0' && !busy) ? wish : NULL;
}


void luaN_complete (lua_State *L) {
  const char *wish = wished();
  Join *to;
  if (l_likely(wish == NULL)) return;
  if ((to = attach_find(wish)) != NULL) to(L);
}


__attribute__((constructor)) static void loaded (void) {
  const char *wish = wished();
  if (wish != NULL) (void)attach_find(wish);
}
