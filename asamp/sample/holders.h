/* SPDX-License-Identifier: MIT */
/*
** Who holds the samples that are alive: for each owner the shortest path from a root, in
** Lua's words, with what is alike merged, so that few paths tell of many samples. Walks
** over all that can be reached, twice over what leads to an owner. Memory: some 12 bytes
** an object while it runs; strings count only where they are owners. Rules:
**   HO1  a path's steps are a list through 'parent': path 0 is none, of what cannot be
**        reached (it is dead) or has no owner;
**   HO2  at most READER_MAXPATHS paths of READER_MAXSTEPS steps, of at most HOLDERS_TEXT
**        bytes each: what is beyond has the path up to there, and is counted;
**   HO3  elements are one, "[1..n]", and so are the fields of a table that more than
**        HOLDERS_FIELDS of them lead on from, "[*]", but those of _G and of modules; a
**        step that repeats, as in a linked list, is one.
*/
#ifndef asamp_holders_h
#define asamp_holders_h

#include "lua.h"

#include "bounds.h"

#include <stddef.h>
#include <stdint.h>

#define HOLDERS_TEXT	255u
#define HOLDERS_FIELDS	12u

typedef struct HolderPath {
  uint32_t parent;	/* path that this one goes on from; 0: it begins here */
  uint32_t depth;
  uint32_t at;		/* of 'step' in the text */
  const char *step;
} HolderPath;

typedef struct Holders {
  HolderPath *paths;	/* from 1 on */
  uint32_t npaths;	/* with the one that is none */
  char *text;		/* of steps, each with its NUL */
  size_t ntext;
  uint32_t *ids;	/* the path of each owner */
  size_t n;
  uint64_t left, cut;	/* times that a path found no room, had too many steps (HO2) */
  uint64_t began, nanoseconds;  /* that the program has waited: CLOCK_MONOTONIC */
} Holders;

/* Memory: as lua_Alloc, zeroed where it is new; 'ud' is NULL. */
typedef void *(*HoldersMemory) (void *ud, void *block, size_t old, size_t size);

/*
** The two halves of holders_find. The first calls nothing but 'memory' and the seam: paths
** have 'at' only, and C functions stand in them by address. The second gives the steps
** their names; it needs malloc, from which all that 'h' has must be then. 0: no memory.
*/
int holders_walk (Holders *h, lua_State *L, const void *const *owners, size_t n,
                  HoldersMemory memory);
int holders_name (Holders *h);

/* Both halves. Owners may be NULL, and may be there more than once. 0: no memory, or the collector is
   at work; there is nothing to free then. Not inside a collection. */
int holders_find (Holders *h, lua_State *L, const void *const *owners, size_t n);
void holders_free (Holders *h);

#endif
