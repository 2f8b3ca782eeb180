/* SPDX-License-Identifier: MIT */
/*
** Finds for each owner (an object to which a live sample belongs) a shortest path of references
** from a root (luaN_walk). The objects on this path are the holders of the owner. The steps of a
** path are in terms of Lua, for example names of variables and fields. Similar paths are merged, so
** that few paths describe many samples. The search walks over all reachable objects, and then
** visits those that lead to an owner once or twice more. It takes about 12 bytes per object;
** strings count only if they are owners. Rules:
**
**   HO1  a path is a linked list of steps, from the last step through 'parent' to the first. Path
**        0 is the empty path. It belongs to owners that are NULL or unreachable (dead), and to
**        those whose steps are all left out (HO2);
**   HO2  there are at most READER_MAXPATHS paths of at most READER_MAXSTEPS steps. A step beyond
**        one of these limits is left out and counted, in 'left' or 'cut'. The text of a step is
**        truncated to HOLDERS_TEXT bytes;
**   HO3  steps are merged. All integer keys of a table become one step "[1..n]", except in the
**        registry. All string keys of a table become one step "[*]" if more than HOLDERS_FIELDS of
**        them lead to owners, except in _G, the registry and package.loaded. A step that repeats,
**        as in a linked list, is written once.
*/
#ifndef asamp_holders_h
#define asamp_holders_h

#include "lua.h"

#include "bounds.h"

#include <stddef.h>
#include <stdint.h>

#define HOLDERS_TEXT	255u	/* largest number of bytes of the text of a step */
/* Up to this many fields of one table remain separate steps; more are merged (HO3). The same holds
   for the stack slots of the C calls of one thread. */
#define HOLDERS_FIELDS	12u

/* A path, stored as its last step and the path of the steps before it. */
typedef struct HolderPath {
  uint32_t parent;	/* Number of the path that has the steps before the last one; 0: the path
			   has one step. */
  uint32_t depth;	/* Number of steps of the path. */
  uint32_t at;		/* Offset of the last step in 'text'. */
  const char *step;	/* Text of the last step; set by holders_name. */
} HolderPath;

/* The result of a search: paths of references from roots, and the path to each owner (object to
   which a sample belongs). */
typedef struct Holders {
  HolderPath *paths;	/* all paths; path i has the index i, from 1 on */
  uint32_t npaths;	/* number of paths, including the empty path 0 */
  char *text;		/* The texts of the last steps of all paths, each with its NUL. */
  size_t ntext;
  uint32_t *ids;	/* Number of the path to each owner (object to which a sample belongs), in
			   the order of the caller's list of owners. */
  size_t n;
  uint64_t left, cut;	/* Number of steps left out (HO2): 'left' because of READER_MAXPATHS, 'cut'
			   because of READER_MAXSTEPS. */
  uint64_t start, nanoseconds;  /* The time for which the program was stopped, in ns: its start
				   (CLOCK_MONOTONIC) and its length. */
} Holders;

/* A memory function like lua_Alloc, except that new memory is zero. 'ud' is NULL. */
typedef void *(*HoldersMemory) (void *ud, void *block, size_t old, size_t size);

/*
** The two halves of holders_find, for callers that make the walk in a child process. Both return 0
** if there is not enough memory. The caller frees the memory of *h, also after a failure.
**   - holders_walk can run in the child of a fork: it allocates only with 'memory', and calls only
**     the functions of seam.h. It stores C functions by address and leaves 'step' unset. It also
**     returns 0 if the walk fails.
**   - holders_name replaces these addresses by names and sets 'step'. It uses malloc, so the memory
**     of *h must come from malloc by then.
*/
int holders_walk (Holders *h, lua_State *L, const void *const *owners, size_t n,
                  HoldersMemory memory);
int holders_name (Holders *h);

/* Finds the holders of n owners, with memory from malloc. Owners may be NULL and may repeat.
   Returns 0, with nothing to free, if there is not enough memory or luaN_walk cannot run now
   (LUAN_BUSY). Call it only where luaN_walk may be called. */
int holders_find (Holders *h, lua_State *L, const void *const *owners, size_t n);
void holders_free (Holders *h);

#endif
