/* SPDX-License-Identifier: MIT */
/*
** Numbers the functions of a session: prototypes with equal name, line and source share one
** number, 1, 2, ... A server that loads templates makes new prototypes at each request; in the
** profile they are one function of the program text. Independent of Lua.
**
** A cache maps prototypes, by their own unsigned ids (never 0, never reused), to numbers. A
** prototype that is not in the cache is named again and found by the hash of name, line and source.
** These are not stored; the hash is keyed.
**
**   FU1  at most FUNCTIONS_MOST numbers; the last one is shared by all further functions. At
**        most FUNCTIONS_CHUNKS functions of chunks that are not files, which may have a new
**        source at each load, have their own numbers; further ones have the source [other
**        chunks];
**   FU2  the memory is bounded: 16 bytes per slot of 'byname', and the cache, which grows with its
**        content: of ten thousand states few run many functions;
**   FU3  'listed' has all non-empty cache slots while 'nlisted' is below FUNCTIONS_LISTED: a state
**        that lives for one request clears only these.
*/
#ifndef asamp_functions_h
#define asamp_functions_h

#include <stdint.h>

#include "bounds.h"
#include "idmap.h"

#define FUNCTIONS_CACHED	8192  /* A cache with fewer slots grows, by a factor of 4. */
#define FUNCTIONS_FIRST	256	/* Slots of a new cache, a power of 2. */
#define FUNCTIONS_LISTED	128   /* If there are fewer non-empty slots, they are cleared one by
				         one (FU3). */

/* Direct-mapped cache from prototypes to numbers. */
typedef struct FunctionCache {
  uint32_t mask;		/* Number of slots - 1; the number of slots is a power of 2. */
  struct CachedFunction {
    unsigned int prototype;	/* Id of the prototype; 0: an empty slot. */
    uint32_t number;
  } places[];
} FunctionCache;

/* The functions of a session. */
typedef struct Functions {
  FunctionCache *cache;
  uint32_t used;		/* Number of non-empty slots. */
  IdMap byname;		/* Maps the hash of name, line and source to the number. */
  uint16_t listed[FUNCTIONS_LISTED];
  uint32_t nlisted;	/* Number of entries in 'listed'; FUNCTIONS_LISTED: there may be further
			   non-empty slots. */
  uint32_t n;	/* Number of numbers given. */
  uint32_t nchunks;	/* Number of those given to functions of chunks that are not files. */
  unsigned int last;	/* Highest prototype id so far; lower ones may be in 'lumped' already. */
  uint64_t lumped, lumpedchunks;  /* Prototypes beyond the limits of FU1, each counted at most
				   once. */
} Functions;

/* Name of a function (profile.h). */
typedef struct FunctionName {
  const char *name;
  int line;
  const char *source;
  int isfile;		/* 1: the source is a file. */
} FunctionName;

/* Initializes *f. Returns 0 if there is not enough memory. */
int functions_open (Functions *f);
void functions_close (Functions *f);

/*
** Removes all functions without freeing 'byname', which a fork may have caught in a change.
*/
void functions_forget (Functions *f);

/* Removes all functions, at the start of a session. */
void functions_start (Functions *f);

/* Returns the number of the prototype; 0: not in the cache. */
static inline uint32_t functions_cached (const Functions *f, unsigned int prototype) {
  const struct CachedFunction *c = &f->cache->places[prototype & f->cache->mask];
  return c->prototype == prototype ? c->number : 0;
}

/*
** Returns the number of a prototype with that name, and caches it. Sets *isnew to 1 if the number
** is new: then the caller emits it with *name, which may have become a shared name (FU1). If there
** is not enough memory, one name may receive several numbers.
*/
uint32_t functions_number (Functions *f, unsigned int prototype, FunctionName *name,
                           int *isnew);

#endif
