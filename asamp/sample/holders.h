/* SPDX-License-Identifier: MIT */
/*
** Finds for each owner (the object with which a sample's memory dies) a shortest path of references
** from a root of the garbage collector. The objects on the path are the owner's holders. A step of
** a path is the text of one reference: the name of a variable, a field and so on. Similar paths are
** merged. A search walks the reachable objects until all owners are reached, and takes about 12
** bytes per object. Each object on a path, up to HOLDERS_DEPTH references from a root, takes about
** 85 bytes more.
*/

/*
** Representation and limits of paths:
**
**   HO1  a path is a linked list of steps; HolderPath.parent leads from the last step to the first.
**        Path 0 is empty. It is the path of an owner that is NULL or unreachable, or whose first
**        step would exceed the number of paths (HO2);
**   HO2  there are at most READER_MAXPATHS paths. A path has at most READER_MAXSTEPS steps, a step
**        at most HOLDERS_TEXT bytes. Holders.left and Holders.cut count the missing steps;
**   HO3  all integer keys of a table are one step "[1..n]", except in the registry. If more than
**        HOLDERS_FIELDS string keys of a table lead to owners, they are one step "[*]", except in
**        the registry, _G and package.loaded. Equal steps in a row, as in a linked list of tables,
**        are one step;
**   HO4  an owner that is more than HOLDERS_DEPTH references from a root, such as an element of a
**        long linked list, has the path of its ancestor that is HOLDERS_DEPTH references from the
**        root. The owner counts in Holders.cut.
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
   (the objects to which paths are searched), all these keys are one step "[*]". The constant also
   limits stack slots of C functions in a Lua thread: if more slots lead to owners, all slots of one
   C function are one step. */
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
  /* The texts of the steps, such as '["name"]', each NUL-terminated. */
  char *text;
  size_t ntext;
  /* ids[i]: number of the path to owners[i], an argument of holders_walk, holders_find or
     holderssearch_start. */
  uint32_t *ids;
  size_t n;
  /* left  number of steps that are missing because READER_MAXPATHS paths existed
     cut   number of steps that are missing because a path had READER_MAXSTEPS steps, plus the
           number of owners that have the path of an ancestor (HO4) */
  uint64_t left, cut;
  uint64_t start, nanoseconds;  /* start: start of the pause in which the program was stopped,
                                   CLOCK_MONOTONIC, ns. nanoseconds: length of this pause. */
} Holders;

/* An allocation function like lua_Alloc. The bytes of a new block are 0. 'ud' is NULL. */
typedef void *(*HoldersMemory) (void *ud, void *block, size_t old, size_t size);

/* Like holders_find, but stores addresses of C functions instead of their names, and allocates only
   with 'memory', because malloc may be locked in the child of a fork. Returns 0 if luaN_walk fails
   or if out of memory. The caller frees *h after success and failure. */
int holders_walk (Holders *h, lua_State *L, const void *const *owners, size_t n,
                  HoldersMemory memory);
/* Replaces the addresses that holders_walk has stored by names of C functions. The memory of *h
   must be from malloc. Returns 0 if out of memory. */
int holders_name (Holders *h);

/* Finds a path of references to each of n owners (objects with which a sample's memory dies), which
   may be NULL or repeated. Returns 1, with the result in *h, for which the caller must call
   holders_free. Returns 0 if out of memory or if luaN_walk cannot run now. */
int holders_find (Holders *h, lua_State *L, const void *const *owners, size_t n);
void holders_free (Holders *h);

#endif
