/* SPDX-License-Identifier: MIT */
/*
** Finds for each owner of a live sample a shortest path from a root (luaN_walk), in terms of Lua.
** Similar paths are merged, so that few paths describe many samples. Walks over all reachable
** objects, then visits those that lead to an owner once or twice more. Memory: about 12 bytes per
** object during the walk; strings count only if they are owners. Rules:
**
**   HO1  a path is a linked list of steps through 'parent'. Path 0 is the empty path, of owners
**        that are unreachable (dead) or NULL, or whose steps are all left out (HO2);
**   HO2  at most READER_MAXPATHS paths of READER_MAXSTEPS steps. A step beyond these limits is left
**        out, and counted in 'left' or 'cut'. A step of more than HOLDERS_TEXT bytes is truncated;
**   HO3  all integer keys of a table are one step "[1..n]", except in the registry. All string keys
**        of a table are one step "[*]" if more than HOLDERS_FIELDS lead to owners, except in _G,
**        the registry and package.loaded. A repeated step, as in a linked list, is one step.
*/
#ifndef asamp_holders_h
#define asamp_holders_h

#include "lua.h"

#include "bounds.h"

#include <stddef.h>
#include <stdint.h>

#define HOLDERS_TEXT	255u	/* longest step in bytes */
#define HOLDERS_FIELDS	12u	/* most fields of a table, or slots of C calls of a thread, that
				   remain separate steps */

/* A path: the last step, and the path before it. */
typedef struct HolderPath {
  uint32_t parent;	/* Path that this one extends; 0: this is the first step. */
  uint32_t depth;	/* Number of steps. */
  uint32_t at;		/* Offset of the step in 'text'. */
  const char *step;	/* The step; set by holders_name. */
} HolderPath;

/* The result: paths, and the path of each owner. */
typedef struct Holders {
  HolderPath *paths;	/* indexed from 1 */
  uint32_t npaths;	/* number of paths, including the empty path 0 */
  char *text;		/* The steps, each with its NUL. */
  size_t ntext;
  uint32_t *ids;	/* Path of each owner. */
  size_t n;
  uint64_t left, cut;	/* Steps left out because of READER_MAXPATHS, and READER_MAXSTEPS (HO2). */
  uint64_t start, nanoseconds;  /* Start (CLOCK_MONOTONIC) and length of the time that the
				   program waited, ns. */
} Holders;

/* Memory function like lua_Alloc, which zeroes new memory; 'ud' is NULL. */
typedef void *(*HoldersMemory) (void *ud, void *block, size_t old, size_t size);

/*
** The two halves of holders_find. holders_walk allocates only with 'memory', and calls Lua only
** through seam.h; it leaves 'step' unset and refers to C functions by address. holders_name adds
** the names of C functions and sets 'step'; it uses malloc, from which all memory of 'h' must
** come. Both return 0 if there is not enough memory; holders_walk, also if the walk fails. After
** a failure, too, the caller frees the memory of 'h'.
*/
int holders_walk (Holders *h, lua_State *L, const void *const *owners, size_t n,
                  HoldersMemory memory);
int holders_name (Holders *h);

/*
** Does both halves with malloc. Owners may be NULL and may repeat. Returns 0 if there is not
** enough memory or luaN_walk cannot run now (LUAN_BUSY); then there is nothing to free. To be
** called where luaN_walk may be called.
*/
int holders_find (Holders *h, lua_State *L, const void *const *owners, size_t n);
void holders_free (Holders *h);

#endif
