/* SPDX-License-Identifier: MIT */
/*
** exact: a Lua module that counts every allocation of a run by allocation site, for bench/sites:
**   EXACT_OUT=FILE LUA_PROFILER=... lua -l profiler -l exact SCRIPT
** The module is a sampler between the core and the profiler's sampler. It requests a sample at
** every byte, so that the core reports each block to it. If a block reaches the profiler's sample
** point, the module passes the block on to the profiler.
**
** So the exact counts and the profile are from the same run, and differ only by the sampling.
** (Two runs may differ in the order of pairs, and thus in their allocations.) Counting starts
** when the module is loaded and stops in lua_close.
**
** With EXACT_COPIES=FILE2 the module also counts copied bytes, for bench/copies: the bytes of
** each new string when the string is complete, and the bytes that are moved when a block grows.
**
** The first line of FILE is the number of allocated bytes according to the core. Each other line
** describes a site: bytes, blocks, type, line, file. A site is the type of the block and the
** innermost Lua line of its stack (line 0 of the file "-" if no Lua function is on the stack). In
** FILE2 each line describes a line of Lua that copies; the type is "copied".
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asamp.h>
#include <lauxlib.h>

#include "lobject.h"
#include "seam.h"

#define NSITES	16384	/* number of slots of the hash table, a power of two */
#define COPIED	(-1) /* Site.kind of a site that counts copied bytes */

typedef struct Site {
  /* file name; NULL if this slot of the hash table is free */
  char *file;
  int line, kind;
  uint64_t bytes, blocks;
} Site;

static Site sites[NSITES];
static size_t used;
static const asamp_Api *api;
static uint64_t started;  /* bytes that luaN_allocated returned when this module was loaded */
static luaN_Frame frames[LUAN_DEPTH];

/* the profiler's sampler, to which this module forwards all calls */
static const luaN_Sampler *inner;
static uint64_t left;			/* bytes to the profiler's next sample point, >= 1 */

static const char *copies;  /* path FILE2; NULL if copies are not counted */
static uint64_t copyleft = UINT64_MAX; /* bytes to the profiler's next copy sample point */
static const TString *unfinished;  /* new string whose bytes the core has not written yet */
static Site *unfinishedat;   /* site to which the bytes of 'unfinished' will be added */

/*
** Finds the innermost Lua function on the stack. Stores its file and line in *ar and returns 1;
** returns 0 if the stack has none. If the running coroutine has only C functions, searches the
** coroutines that resumed it. Must not allocate, because the core calls it during an allocation.
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

/* Returns the site with this file, line and kind. Creates it if it does not exist. */
static Site *site (const char *file, int line, int kind) {
  const char *c;
  size_t h = (size_t)line * 31 + (size_t)kind;
  for (c = file; *c != '\0'; c++) h = h * 33 + (unsigned char)*c;
  for (h = (h ^ (h >> 14)) & (NSITES - 1); sites[h].file != NULL; h = (h + 1) & (NSITES - 1))
    if (sites[h].line == line && sites[h].kind == kind && strcmp(sites[h].file, file) == 0)
      return &sites[h];
  if (++used == NSITES || (sites[h].file = strdup(file)) == NULL) {
    fprintf(stderr, "exact: more than %d allocation sites, or not enough memory\n", NSITES);
    exit(3);
  }
  sites[h].line = line;
  sites[h].kind = kind;
  return &sites[h];
}

/* Returns the site of the innermost Lua line on the stack for blocks of type 'kind'. */
static Site *here (lua_State *L, int kind) {
  lua_Debug ar;
  if (!innermost(L, &ar)) return site("-", 0, kind);
  return site(*ar.source == '@' ? ar.source + 1 : ar.short_src,
              ar.currentline > 0 ? ar.currentline : 0, kind);
}

/*
** Adds the string 'unfinished' to the counts, if it is not NULL. Called at the next sample,
** copy or collection, because the string is complete then.
*/
static void settle (void) {
  if (unfinished == NULL) return;
  unfinishedat->bytes += tsslen(unfinished);
  unfinishedat->blocks++;
  unfinished = NULL;
}

/*
** Sampler callback for a new block of over + 1 bytes. Counts the block, and calls the profiler if
** its sample point is reached. Returns 1, the distance to the next sample point in bytes.
*/
static uint64_t sample (void *ud, lua_State *L, const luaN_Sample *s, uint64_t over) {
  Site *at = here(L, (int)s->kind);
  (void)ud;
  settle();
  if (copies != NULL && s->kind == LUAN_KSTRING) {
    unfinishedat = here(L, COPIED);
    unfinished = s->block;
  }
  at->bytes += over + 1;
  at->blocks++;
  left = (over + 1 < left) ? left - (over + 1) : inner->sample(inner->ud, L, s, over + 1 - left);
  return 1;
}

static void decide (void *ud, lua_State *L, int major) {
  (void)ud;
  settle();
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

static void resized (void *ud, lua_State *L, const void *from, const void *to, uint64_t before,
                     uint64_t after) {
  (void)ud;
  inner->resized(inner->ud, L, from, to, before, after);
}

static void point (void *ud, lua_State *L) {
  (void)ud;
  inner->point(inner->ud, L);
}

/*
** Sampler callback for n copied bytes. Counts them, and calls the profiler if its copy sample
** point is reached. Returns 1, the distance to the next copy sample point in bytes.
*/
static uint64_t copied (void *ud, lua_State *L, size_t n, uint64_t over) {
  Site *at;
  (void)ud; (void)over;
  settle();
  at = here(L, COPIED);
  at->bytes += n;
  at->blocks++;
  copyleft = (n < copyleft) ? copyleft - n : inner->copied(inner->ud, L, n, n - copyleft);
  return 1;
}

/*
** Writes the counts to the file 'path'. If 'copied' is 1, writes the sites that copied bytes; if it
** is 0, writes the sites of allocations, after a line with 'all'. all: bytes that the Lua state has
** allocated since this module was loaded, according to the core.
*/
static void put (const char *path, int copied, uint64_t all) {
  FILE *f = path != NULL ? fopen(path, "w") : NULL;
  size_t i;
  if (f == NULL) {
    fprintf(stderr, "exact: cannot write '%s'; set EXACT_OUT=FILE\n", path != NULL ? path : "");
    exit(3);
  }
  if (!copied) fprintf(f, "%llu\n", (unsigned long long)all);
  for (i = 0; i < NSITES; i++) {
    const Site *s = &sites[i];
    if (s->file == NULL || (s->kind == COPIED) != copied) continue;
    fprintf(f, "%llu\t%llu\t%s\t%d\t%s\n", (unsigned long long)s->bytes, (unsigned long long)s->blocks,
            copied ? "copied" : api->kindname((asamp_Kind)s->kind), s->line, s->file);
  }
  if (fclose(f) != 0) {
    fprintf(stderr, "exact: cannot write '%s'\n", path);
    exit(3);
  }
}

/* Sampler callback for lua_close: writes the files and installs the profiler's sampler again. */
static void closing (void *ud, lua_State *L) {
  uint64_t all = luaN_allocated(L) - started;
  (void)ud;
  settle();
  put(getenv("EXACT_OUT"), 0, all);
  if (copies != NULL) put(copies, 1, 0);
  luaN_setsampler(L, inner, left);
  if (copies != NULL) luaN_setcopies(L, copyleft);
  inner->closing(inner->ud, L);
}

int luaopen_exact (lua_State *L);

int luaopen_exact (lua_State *L) {
  static const luaN_Sampler sampler = {NULL, sample, decide, collected, freed, resized, point, closing,
                                       copied, NULL, NULL};
  api = asamp_api(L);
  inner = luaN_getsampler(L);
  if (api == NULL || inner == NULL) return luaL_error(L, "nothing is sampled; use -l profiler -l exact");
  left = luaN_distance(L);
  started = luaN_allocated(L);
  copies = getenv("EXACT_COPIES");
  luaN_setsampler(L, &sampler, 1);
  /* makes the profiler's first copy sample due at the next byte */
  if (copies != NULL) luaN_setcopies(L, copyleft = 1);
  return 0;
}
