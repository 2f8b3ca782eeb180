/* SPDX-License-Identifier: MIT */
/*
** sites SCRIPT: runs a Lua script and prints which of its lines allocated most,
** and how much of that survived its first collection. An example of asamp.h:
**
**   cc -o sites sites.c $(pkg-config --cflags --libs lua5.4)
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asamp.h>
#include <lauxlib.h>
#include <lualib.h>

#define PERIOD	4096	/* bytes that a sample stands for */
#define NSITES	256

typedef struct Waiting {
  short site;		/* -1: none */
  uint64_t count;
} Waiting;

typedef struct Site {
  const asamp_Function *function;
  int line;
  uint64_t points, survived;
} Site;

/* Sites, and for each sample that waits for its fate, where it was taken. */
typedef struct Sites {
  Site sites[NSITES];
  int n;
  uint64_t first, last;	/* numbers of the samples that wait: first <= ... < last */
  Waiting *waiting;
  size_t size;
} Sites;

/* The innermost Lua function of a stack. */
static const asamp_Frame *inner (const asamp_Sample *s) {
  size_t i;
  for (i = 0; i < s->nframes; i++)
    if (s->frames[i].function != NULL) return &s->frames[i];
  return NULL;
}

static int siteof (Sites *t, const asamp_Frame *f) {
  int i;
  for (i = 0; i < t->n; i++)
    if (t->sites[i].function == f->function && t->sites[i].line == f->line)
      return i;
  if (t->n == NSITES) return -1;
  t->sites[t->n].function = f->function;
  t->sites[t->n].line = f->line;
  return t->n++;
}

static void allocated (void *ud, const asamp_Sample *s) {
  Sites *t = (Sites *)ud;
  const asamp_Frame *f = inner(s);
  size_t i = (size_t)(s->number - t->first);
  if (i == t->size) {
    t->size = 2 * t->size + 64;
    t->waiting = (Waiting *)realloc(t->waiting, t->size * sizeof(Waiting));
    if (t->waiting == NULL) abort();
  }
  t->waiting[i].site = (short)((f != NULL) ? siteof(t, f) : -1);
  t->waiting[i].count = s->count;
  if (t->waiting[i].site >= 0)
    t->sites[t->waiting[i].site].points += s->count;
  t->last = s->number + 1;
}

static void decided (void *ud, const asamp_Fate *f) {
  Sites *t = (Sites *)ud;
  size_t i = (size_t)(f->number - t->first);
  if (f->survived && t->waiting[i].site >= 0)
    t->sites[t->waiting[i].site].survived += t->waiting[i].count;
}

/* All that was taken before a collection has its fate. */
static void collected (void *ud, const asamp_Collection *c) {
  Sites *t = (Sites *)ud;
  (void)c;
  t->first = t->last;
}

static int more (const void *a, const void *b) {
  const Site *x = (const Site *)a, *y = (const Site *)b;
  return (x->points < y->points) - (x->points > y->points);
}

int main (int argc, char **argv) {
  static Sites t;
  asamp_Client client = {&t, allocated, decided, collected};
  asamp_Options options = {PERIOD, 0, 0, 0};  /* random gaps, no C stacks */
  const asamp_Api *api;
  const char *error;
  lua_State *L;
  int i, failed;
  if (argc != 2) {
    fprintf(stderr, "usage: sites SCRIPT\n");
    return 2;
  }
  t.first = t.last = 1;
  L = luaL_newstate();
  luaL_openlibs(L);
  if ((api = asamp_api(L)) == NULL) {
    fprintf(stderr, "sites: there is no module profiler.core\n");
    return 2;
  }
  if ((error = api->start(L, &options, &client)) != NULL) {
    fprintf(stderr, "sites: %s\n", error);
    return 2;
  }
  failed = (luaL_dofile(L, argv[1]) != LUA_OK);
  if (failed) fprintf(stderr, "sites: %s\n", lua_tostring(L, -1));
  lua_gc(L, LUA_GCCOLLECT);
  qsort(t.sites, (size_t)t.n, sizeof(*t.sites), more);
  for (i = 0; i < t.n && i < 10; i++) {
    const Site *s = &t.sites[i];
    printf("%10.0f KB  %3.0f%% survived  %s:%d: %s\n",
           (double)s->points * PERIOD / 1024,
           100.0 * (double)s->survived / (double)s->points,
           s->function->source, s->line, s->function->name);
  }
  api->stop(L);  /* functions live until here */
  lua_close(L);
  free(t.waiting);
  return failed;
}
