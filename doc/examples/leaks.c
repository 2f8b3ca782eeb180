/* SPDX-License-Identifier: MIT */
/*
** leaks SCRIPT [PERIOD]: runs a Lua script and prints the sites of leaks, largest first: the lines
** that allocated the objects that are alive at its end, the types of these objects, and their
** holders. A sample every PERIOD bytes (4096) on average. An example of asamp.h:
**
**   cc -o leaks leaks.c $(pkg-config --cflags --libs lua5.4)
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asamp.h>
#include <lauxlib.h>
#include <lualib.h>

/*
** The allocations of one kind at a line of the script. 'points' is the sum of the counts of its
** samples.
*/
typedef struct Site {
  struct Site *next;
  const asamp_Function *function;  /* NULL: none written in Lua was running */
  int line;
  asamp_Kind kind;
  long long points;	/* allocated */
  long long alive, blocks;  /* points, samples: survived, not known to be dead */
  uint32_t path;	/* that holds most of its samples, by a vote: each for its own path */
  long long votes;	/* votes for this path, less those for others */
  char holder[400];
} Site;

static Site *siteof (Site **list, const asamp_Function *function, int line,
                     asamp_Kind kind) {
  Site *s;
  for (s = *list; s != NULL; s = s->next)
    if (s->function == function && s->line == line && s->kind == kind) return s;
  if ((s = (Site *)calloc(1, sizeof(*s))) == NULL) abort();
  s->function = function;
  s->line = line;
  s->kind = kind;
  s->next = *list;
  return *list = s;
}

/* The value of a sample is the site of its innermost Lua function. */
static void *allocated (void *ud, const asamp_Sample *s) {
  Site *site, **list = (Site **)ud;
  size_t i = 0;
  while (i < s->nframes && s->frames[i].function == NULL) i++;
  if (i == s->nframes) site = siteof(list, NULL, 0, s->kind);
  else site = siteof(list, s->frames[i].function, s->frames[i].line, s->kind);
  site->points += (long long)s->count;
  return site;
}

/* A block that survived and is not followed counts as a leak: its death would not be reported. */
static void decided (void *ud, const asamp_Known *s, const asamp_Fate *f) {
  Site *site = (Site *)s->value;
  (void)ud;
  if (!f->survived) return;
  site->alive += (long long)s->count;
  site->blocks++;
}

static void died (void *ud, const asamp_Known *s) {
  Site *site = (Site *)s->value;
  (void)ud;
  site->alive -= (long long)s->count;
  site->blocks--;
}

/* More than half of the samples of a site are held alike, or nobody wins. */
static void held (void *ud, const asamp_Known *s, const asamp_Path *p) {
  Site *site = (Site *)s->value;
  size_t i;
  (void)ud;
  if (site->votes > 0) {
    site->votes += (site->path == p->number) ? 1 : -1;
    return;
  }
  site->votes = 1;
  site->path = p->number;
  site->holder[0] = '\0';
  for (i = 0; i < p->nsteps; i++) {
    if (i > 0) strncat(site->holder, " -> ", sizeof(site->holder) - strlen(site->holder) - 1);
    strncat(site->holder, p->steps[i], sizeof(site->holder) - strlen(site->holder) - 1);
  }
}

static void print (const asamp_Api *api, Site *list, double period) {
  double kb = period / 1024;
  int i;
  for (i = 0; i < 20; i++) {
    Site *s, *most = list;
    for (s = list; s != NULL; s = s->next)
      if (s->alive > most->alive) most = s;
    if (most == NULL || most->alive <= 0) return;
    printf("%10.0f of %.0f KB alive, %lld sampled: %s, ", (double)most->alive * kb,
           (double)most->points * kb, most->blocks, api->kindname(most->kind));
    if (most->function == NULL) printf("no Lua function\n");
    else printf("%s:%d: %s\n", most->function->source, most->line,
                most->function->name);
    if (most->votes > 0 && most->path != 0) printf("           held by %s\n", most->holder);
    most->alive = 0;  /* it is printed */
  }
}

static void freelist (Site *s) {
  while (s != NULL) {
    Site *next = s->next;
    free(s);
    s = next;
  }
}

/* Runs a script; 0: it has failed. */
static int run (lua_State *L, const char *script) {
  int good = (luaL_dofile(L, script) == LUA_OK);
  if (!good) fprintf(stderr, "leaks: %s\n", lua_tostring(L, -1));
  lua_settop(L, 0);
  lua_gc(L, LUA_GCCOLLECT);  /* frees dead objects and calls finalizers */
  lua_gc(L, LUA_GCCOLLECT);  /* frees the objects that finalizers have dropped */
  return good;
}

int main (int argc, char **argv) {
  Site *list = NULL;
  asamp_Client client = {sizeof(client), &list, allocated, decided, died, NULL, NULL, held};
  asamp_Options options = {sizeof(options), 4096, 0, 0, 0};  /* no C stacks */
  const asamp_Api *api;
  const char *error = "there is no module profiler.core";
  lua_State *L;
  int status = 2;
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: leaks SCRIPT [PERIOD]\n");
    return status;
  }
  if (argc > 2) options.period = strtoull(argv[2], NULL, 10);
  L = luaL_newstate();
  luaL_openlibs(L);
  api = asamp_api(L);
  if (api != NULL) error = api->start(L, &options, &client);
  if (error != NULL) fprintf(stderr, "leaks: %s\n", error);
  else {
    status = run(L, argv[1]) ? 0 : 1;
    api->holders(L);
    print(api, list, (double)options.period);
    api->stop(L);  /* functions live until here */
  }
  lua_close(L);
  freelist(list);
  return status;
}
