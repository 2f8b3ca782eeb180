/* SPDX-License-Identifier: MIT */
/*
** leaks SCRIPT [PERIOD]: runs a Lua script, and prints which of its lines
** allocated what is still alive at its end: the sites of leaks, most first. A
** sample every PERIOD bytes (4096) on average. An example of asamp.h:
**
**   cc -o leaks leaks.c $(pkg-config --cflags --libs lua5.4)
*/
#include <stdio.h>
#include <stdlib.h>

#include <asamp.h>
#include <lauxlib.h>
#include <lualib.h>

/* A line of the script; points are samples as often as they count. */
typedef struct Site {
  const asamp_Function *function;
  int line;
  long long points, alive;  /* allocated; survived, and not known to be dead */
  long long blocks;	/* samples of the latter */
} Site;

typedef struct Sites {
  Site *sites[1024];
  int n;
} Sites;

static Site *siteof (Sites *t, const asamp_Frame *f) {
  int i;
  Site *s;
  for (i = 0; i < t->n; i++)
    if (t->sites[i]->function == f->function && t->sites[i]->line == f->line)
      return t->sites[i];
  if (t->n == 1024 || (s = (Site *)calloc(1, sizeof(*s))) == NULL) return NULL;
  s->function = f->function;
  s->line = f->line;
  return t->sites[t->n++] = s;
}

/* The value of a sample is the site of its innermost Lua function. */
static void *allocated (void *ud, const asamp_Sample *s) {
  Site *site = NULL;
  size_t i = 0;
  while (i < s->nframes && s->frames[i].function == NULL) i++;
  if (i < s->nframes) site = siteof((Sites *)ud, &s->frames[i]);
  if (site != NULL) site->points += (long long)s->count;
  return site;
}

static void change (void *value, long long blocks, long long points) {
  Site *site = (Site *)value;
  if (site == NULL) return;
  site->blocks += blocks;
  site->alive += points;
}

/* What survives and is not followed counts as a leak: nobody knows better. */
static void decided (void *ud, const asamp_Known *s, const asamp_Fate *f) {
  (void)ud;
  if (f->survived) change(s->value, 1, (long long)s->count);
}

static void died (void *ud, const asamp_Known *s) {
  (void)ud;
  change(s->value, -1, -(long long)s->count);
}

static int more (const void *a, const void *b) {
  const Site *x = *(Site *const *)a, *y = *(Site *const *)b;
  return (x->alive < y->alive) - (x->alive > y->alive);
}

static void print (Sites *t, uint64_t period) {
  double kb = (double)period / 1024;
  int i;
  qsort(t->sites, (size_t)t->n, sizeof(*t->sites), more);
  for (i = 0; i < t->n && i < 20 && t->sites[i]->alive > 0; i++) {
    const Site *s = t->sites[i];
    printf("%10.0f of %.0f KB alive, %lld blocks sampled  %s:%d: %s\n",
           (double)s->alive * kb, (double)s->points * kb, s->blocks,
           s->function->source, s->line, s->function->name);
  }
}

int main (int argc, char **argv) {
  static Sites t;
  asamp_Client client = {sizeof(client), &t, allocated, decided, died, NULL, NULL};
  asamp_Options options = {sizeof(options), 4096, 0, 0, 0};  /* no C stacks */
  const asamp_Api *api;
  const char *error;
  lua_State *L = luaL_newstate();
  int failed;
  if (argc < 2 || L == NULL) {
    fprintf(stderr, "usage: leaks SCRIPT [PERIOD]\n");
    return 2;
  }
  if (argc > 2) options.period = strtoull(argv[2], NULL, 10);
  luaL_openlibs(L);
  if ((api = asamp_api(L)) == NULL) {
    fprintf(stderr, "leaks: there is no module profiler.core\n");
    return 2;
  }
  if ((error = api->start(L, &options, &client)) != NULL) {
    fprintf(stderr, "leaks: %s\n", error);
    return 2;
  }
  failed = (luaL_dofile(L, argv[1]) != LUA_OK);
  if (failed) fprintf(stderr, "leaks: %s\n", lua_tostring(L, -1));
  lua_settop(L, 0);
  lua_gc(L, LUA_GCCOLLECT);  /* tells all deaths so far; finalizers run, ... */
  lua_gc(L, LUA_GCCOLLECT);  /* ... and what they have let go */
  print(&t, options.period);
  api->stop(L);  /* functions live until here */
  lua_close(L);
  while (t.n > 0) free(t.sites[--t.n]);
  return failed;
}
