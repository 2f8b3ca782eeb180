/* SPDX-License-Identifier: MIT */
/*
** exact: every allocation of a run, added up by site, for bench/sites:
**   EXACT_OUT=FILE LUA_PROFILER=... lua -l profiler -l exact SCRIPT
** It comes between the core and the profiler's sampler: its own next sample point
** is always the next byte, so that no block is missed, and the profiler is handed
** the samples whose points are reached. So the trace and the profile are of one
** run, and differ by nothing but the sampling. (Of two runs the order of pairs,
** and what is allocated for it, may differ.) Counts from here to lua_close.
**
** FILE: first the bytes that the core says it has allocated meanwhile, then a
** line a site: bytes, blocks, type, line, file. A site is a type of block and the
** innermost Lua line of its stack ("0" and "-": no Lua function is on it).
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asamp.h>
#include <lauxlib.h>

#include "seam.h"

#define NSITES	16384	/* slots, a power of two */

typedef struct Site {
  char *file;		/* NULL: a free slot */
  int line, kind;
  uint64_t bytes, blocks;
} Site;

static Site sites[NSITES];
static size_t used;
static const asamp_Api *api;
static uint64_t began;		/* bytes allocated before */
static luaN_Frame frames[LUAN_DEPTH];

static const luaN_Sampler *inner;	/* the profiler's */
static uint64_t left;			/* bytes to its next sample point, >= 1 */

/*
** The innermost Lua function's frame. lua_getstack only looks, which is fine
** here; a coroutine that runs C alone has its Lua function in who resumed it.
*/
static int innermost (lua_State *L, lua_Debug *ar) {
  int level;
  size_t i, n;
  L = luaN_running(L);
  for (level = 0; lua_getstack(L, level, ar); level++) {
    lua_getinfo(L, "Sl", ar);
    if (*ar->what != 'C') return 1;
  }
  n = luaN_frames(L, frames);
  for (i = 0; i < n; i++) {
    if (frames[i].id == NULL) continue;
    memset(ar, 0, sizeof(*ar));
    ar->i_ci = frames[i].ci;
    lua_getinfo(frames[i].L, "Sl", ar);
    return 1;
  }
  return 0;
}

static Site *site (const char *file, int line, int kind) {
  const char *c;
  size_t h = (size_t)line * 31 + (size_t)kind;
  for (c = file; *c != '\0'; c++) h = h * 33 + (unsigned char)*c;
  for (h = (h ^ (h >> 14)) & (NSITES - 1); sites[h].file != NULL; h = (h + 1) & (NSITES - 1))
    if (sites[h].line == line && sites[h].kind == kind && strcmp(sites[h].file, file) == 0)
      return &sites[h];
  if (++used == NSITES || (sites[h].file = strdup(file)) == NULL) {
    fprintf(stderr, "exact: no room for another site than %d\n", NSITES);
    exit(3);
  }
  sites[h].line = line;
  sites[h].kind = kind;
  return &sites[h];
}

static uint64_t sample (void *ud, lua_State *L, const luaN_Sample *s, uint64_t over) {
  lua_Debug ar;
  Site *at;
  (void)ud;
  if (!innermost(L, &ar)) at = site("-", 0, (int)s->kind);
  else at = site(*ar.source == '@' ? ar.source + 1 : ar.short_src,
                 ar.currentline > 0 ? ar.currentline : 0, (int)s->kind);
  at->bytes += over + 1;
  at->blocks++;
  left = (over + 1 < left) ? left - (over + 1) : inner->sample(inner->ud, L, s, over + 1 - left);
  return 1;
}

static void decide (void *ud, lua_State *L, int major) {
  (void)ud;
  inner->decide(inner->ud, L, major);
}

static void collected (void *ud, lua_State *L) {
  (void)ud;
  inner->collected(inner->ud, L);
}

static void freed (void *ud, lua_State *L, const void *block) {
  (void)ud;
  inner->freed(inner->ud, L, block);
}

static void point (void *ud, lua_State *L) {
  (void)ud;
  inner->point(inner->ud, L);
}

static uint64_t copied (void *ud, lua_State *L, size_t n, uint64_t over) {
  (void)ud;
  return inner->copied(inner->ud, L, n, over);
}

static void closing (void *ud, lua_State *L) {
  const char *path = getenv("EXACT_OUT");
  FILE *f = path != NULL ? fopen(path, "w") : NULL;
  size_t i;
  uint64_t all = luaN_allocated(L) - began;
  (void)ud;
  if (f == NULL) {
    fprintf(stderr, "exact: cannot write '%s'; set EXACT_OUT=FILE\n", path != NULL ? path : "");
    exit(3);
  }
  fprintf(f, "%llu\n", (unsigned long long)all);
  for (i = 0; i < NSITES; i++) {
    const Site *s = &sites[i];
    if (s->file == NULL) continue;
    fprintf(f, "%llu\t%llu\t%s\t%d\t%s\n", (unsigned long long)s->bytes,
            (unsigned long long)s->blocks, api->kindname((asamp_Kind)s->kind), s->line, s->file);
  }
  if (fclose(f) != 0) {
    fprintf(stderr, "exact: cannot write '%s'\n", path);
    exit(3);
  }
  luaN_setsampler(L, inner, left);
  inner->closing(inner->ud, L);
}

int luaopen_exact (lua_State *L);

int luaopen_exact (lua_State *L) {
  static const luaN_Sampler sampler = {NULL, sample, decide, collected, freed, point, closing, copied,
                                       NULL};
  api = asamp_api(L);
  inner = luaN_getsampler(L);
  if (api == NULL || inner == NULL) return luaL_error(L, "nothing is sampled; use -l profiler -l exact");
  left = luaN_distance(L);
  began = luaN_allocated(L);
  luaN_setsampler(L, &sampler, 1);
  return 0;
}
