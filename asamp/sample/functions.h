/* SPDX-License-Identifier: MIT */
/*
** Gives the functions of a session the numbers 1, 2, ... Function prototypes with equal name, line
** and source share a number, because a program may load the same code many times. A cache maps
** prototype ids to numbers; a second table maps a hash of name, line and source to numbers.
**
**   FU1  there are at most FUNCTIONS_MOST numbers. The last one represents all further functions,
**        as "(other functions)". At most FUNCTIONS_CHUNKS functions whose source is not a file keep
**        their own source; further ones have the source "[other chunks]";
**   FU2  the memory is bounded. The cache starts small, because a process may have thousands of
**        states;
**   FU3  while 'nlisted' is below FUNCTIONS_LISTED, 'listed' has the indexes of all non-empty cache
**        slots. To empty the cache of a short-lived state, only these slots are cleared.
*/
#ifndef asamp_functions_h
#define asamp_functions_h

#include <stdint.h>

#include "bounds.h"
#include "idmap.h"

#define FUNCTIONS_CACHED	8192  /* Slots of the largest cache. When a smaller cache is half
                                         full, it is replaced by one of 4 times its size. */
#define FUNCTIONS_FIRST	256	/* Slots of a new cache, a power of 2. */
#define FUNCTIONS_LISTED	128   /* Capacity of Functions.listed, the list of used cache
                                         slots. */

/* Direct-mapped cache from Lua function prototypes to function numbers. */
typedef struct FunctionCache {
  uint32_t mask;		/* Number of slots - 1. The number of slots is a power of 2. */
  struct CachedFunction {
    unsigned int prototype;	/* Prototype id; 0: empty slot. */
    uint32_t number;
  } places[];
} FunctionCache;

/* The functions of a session. */
typedef struct Functions {
  FunctionCache *cache;
  uint32_t used;		/* Number of non-empty slots of 'cache'. */
  IdMap byname;		/* Maps the hash of a function's name, line and source to its number. */
  uint16_t listed[FUNCTIONS_LISTED];
  uint32_t nlisted;	/* Number of entries of 'listed', the indexes of used slots of 'cache'.
                           FUNCTIONS_LISTED: 'listed' may lack some. */
  uint32_t n;	/* Largest function number given so far. */
  uint32_t nchunks;	/* Number of functions whose source is not a file and is kept (FU1). */
  /* Highest prototype id seen in this session. Prototypes receive ids in the order of their first
     samples in the session, so a prototype with a higher id is new. Only new prototypes increment
     'lumped' or 'lumpedchunks', because each prototype is counted once. */
  unsigned int last;
  /* lumped: number of prototypes that have the name "(other functions)" because of the limit
     FUNCTIONS_MOST. lumpedchunks: number of prototypes that have the source "[other chunks]"
     because of the limit FUNCTIONS_CHUNKS. */
  uint64_t lumped, lumpedchunks;
} Functions;

/* The identity of a function: its name, the line of its definition, and its source. */
typedef struct FunctionName {
  const char *name;
  int line;
  const char *source;
  int isfile;		/* 1: the source is a file. */
} FunctionName;

/* Initializes *f. Returns 0 if out of memory. */
int functions_open (Functions *f);
void functions_close (Functions *f);

/* Removes all functions, in the child of a fork. Does not free 'byname', which another thread may
   have been changing when the program forked. */
void functions_forget (Functions *f);

/* Removes all functions, at the start of a session. */
void functions_start (Functions *f);

/* Returns the function number of the prototype with the id 'prototype'; 0: it is not in the
   cache. */
static inline uint32_t functions_cached (const Functions *f, unsigned int prototype) {
  const struct CachedFunction *c = &f->cache->places[prototype & f->cache->mask];
  return c->prototype == prototype ? c->number : 0;
}

/* Returns the function number of a prototype with the identity *name, and stores it in the cache.
   If the number is new, sets *isnew to 1; the caller must then report the function. If a limit of
   FU1 is reached, changes the name in *name to "(other functions)", or the source to "[other
   chunks]". */
uint32_t functions_number (Functions *f, unsigned int prototype, FunctionName *name,
                           int *isnew);

#endif
