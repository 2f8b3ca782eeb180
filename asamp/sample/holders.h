/* SPDX-License-Identifier: MIT */
/*
** Finds for each owner (the object with which a sample's memory dies) a shortest path of references
** from a root of the garbage collector. The objects on the path are the owner's holders. Steps of a
** path are names of variables, fields and so on; similar paths are merged. A search walks the
** reachable objects once, until all owners are reached, and takes about 12 bytes per object. Each
** object on a path, up to HOLDERS_DEPTH references from a root, takes about 85 bytes more.
*/

/*
** Representation and limits of paths:
**
**   HO1  a path is a linked list of steps; HolderPath.parent leads from the last step to the first.
**        Path 0 is empty: the owner is NULL or unreachable, or a limit is exceeded (HO2);
**   HO2  there are at most READER_MAXPATHS paths. A path has at most READER_MAXSTEPS steps, a step
**        at most HOLDERS_TEXT bytes. Steps left out are counted in 'left' or 'cut';
**   HO3  all integer keys of a table are one step "[1..n]", except in the registry. If more than
**        HOLDERS_FIELDS string keys of a table lead to owners, they are one step "[*]", except in
**        the registry, _G and package.loaded. Equal steps in a row, as in a linked list of tables,
**        are one step;
**   HO4  an object that is more than HOLDERS_DEPTH references from a root, such as an element of a
**        long linked list, has the path of its ancestor at this depth. It counts in 'cut'.
*/
#ifndef asamp_holders_h
#define asamp_holders_h

#include "lua.h"

#include "bounds.h"

#include <stddef.h>
#include <stdint.h>

#define HOLDERS_DEPTH	READER_MAXPATHS	/* Largest number of references of a path, before equal
                                           steps in a row are merged. */
#define HOLDERS_TEXT	255u	/* Largest length of a step's text, bytes. */
/* Largest number of string keys of a table that are named in paths. If more keys lead to owners
   (the objects to which paths are searched), all these keys are one step "[*]". The limit also
   holds for stack slots of C functions in a Lua thread: beyond it, all slots of one C function are
   one step. */
#define HOLDERS_FIELDS	12u

/* A path, stored as its last step and the path of the steps before it. */
typedef struct HolderPath {
  uint32_t parent;	/* Number of the path without the last step; 0: the path has only one
                           step. */
  uint32_t depth;	/* Number of steps of the path. */
  uint32_t at;		/* Offset of the last step's text in Holders.text. */
  const char *step;	/* Text of the path's last step; set by holders_name. */
} HolderPath;

/* The paths that a search found. */
typedef struct Holders {
  HolderPath *paths;	/* the paths; paths[0] is the empty path */
  uint32_t npaths;	/* number of paths, including the empty path 0 */
  /* The texts of the steps (the references of which paths consist), such as '["name"]', each
     NUL-terminated. */
  char *text;
  size_t ntext;
  /* ids[i]: number of the path to the i-th owner (object with which a sample dies) that the caller
     of the search has passed. */
  uint32_t *ids;
  size_t n;
  /* Numbers of steps (references of a path) that the paths lack.
     left  steps that are missing because READER_MAXPATHS paths existed
     cut   steps that are missing because a path had READER_MAXSTEPS steps, or HOLDERS_DEPTH
           references (counted once for each object) */
  uint64_t left, cut;
  uint64_t start, nanoseconds;  /* start: start of the pause in which the program was stopped,
                                   CLOCK_MONOTONIC, ns. nanoseconds: length of this pause. */
} Holders;

/* An allocation function like lua_Alloc. New blocks are zero; 'ud' is NULL. */
typedef void *(*HoldersMemory) (void *ud, void *block, size_t old, size_t size);

/* Like holders_find, but stores addresses of C functions instead of their names, and allocates only
   with 'memory', because malloc may be locked in the child of a fork. Returns 0 if the walk fails
   or if out of memory. The caller frees *h in any case. */
int holders_walk (Holders *h, lua_State *L, const void *const *owners, size_t n,
                  HoldersMemory memory);
/* Replaces the addresses that holders_walk has stored by names of C functions. The memory of *h
   must be from malloc. Returns 0 if out of memory. */
int holders_name (Holders *h);

/* Finds a path of references to each of n owners (objects with which a sample dies), which may be
   NULL or repeated. Returns 0, with nothing to free, if out of memory or luaN_walk cannot run
   now. */
int holders_find (Holders *h, lua_State *L, const void *const *owners, size_t n);
void holders_free (Holders *h);

#endif
