/* SPDX-License-Identifier: MIT */
/*
** Numbers the functions of a session 1, 2, ... Prototypes with equal name, line and source share
** one number. For example, a server that loads templates makes new prototypes at each request; in
** the profile they are one function of the program text. Independent of Lua.
**
** A cache maps prototypes to numbers. Prototypes are identified by unsigned ids, which are never 0
** and never reused. For a prototype that is not in the cache, the caller supplies the name again,
** and the number is found by a keyed hash of name, line and source. The texts themselves are not
** stored.
**
**   FU1  at most FUNCTIONS_MOST numbers are given; all further functions share the last one.
**        Functions of chunks that are not files may have a new source at each load. At most
**        FUNCTIONS_CHUNKS of them have their own numbers; further ones have the source [other
**        chunks];
**   FU2  the memory is bounded: 16 bytes per slot of 'byname', and the cache. The cache starts
**        small and grows with its content, because of ten thousand states only a few run many
**        functions;
**   FU3  while 'nlisted' is below FUNCTIONS_LISTED, 'listed' has all non-empty cache slots. Then
**        only these need to be cleared, which is fast for a state that lives for one request.
*/
#ifndef asamp_functions_h
#define asamp_functions_h

#include <stdint.h>

#include "bounds.h"
#include "idmap.h"

#define FUNCTIONS_CACHED	8192  /* A cache with fewer slots than this grows by a factor of 4
					 when half of its slots are used. */
#define FUNCTIONS_FIRST	256	/* Slots of a new cache, a power of 2. */
#define FUNCTIONS_LISTED	128   /* Capacity of Functions.listed. If fewer slots are
				         non-empty, they are cleared one by one (FU3). */

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
  uint32_t nlisted;	/* Number of entries in 'listed'. If it is FUNCTIONS_LISTED, other slots
			   may be non-empty, too. */
  uint32_t n;	/* Number of function numbers given so far. */
  uint32_t nchunks;	/* Number of function numbers given to functions of chunks that are not
			   files. */
  unsigned int last;	/* Highest prototype id so far. Prototypes with ids up to this one are not
			   counted again in 'lumped' or 'lumpedchunks'. */
  uint64_t lumped, lumpedchunks;  /* Numbers of prototypes beyond the limits FUNCTIONS_MOST
				   ('lumped') and FUNCTIONS_CHUNKS ('lumpedchunks'), each counted at
				   most once. */
} Functions;

/* Name of a function, as in profile_function (profile.h). */
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
** Removes all functions without freeing 'byname'. Used in the child of a fork, which may have
** caught another thread changing 'byname'.
*/
void functions_forget (Functions *f);

/* Removes all functions, at the start of a session. */
void functions_start (Functions *f);

/* Returns the number of the prototype, or 0 if it is not in the cache. */
static inline uint32_t functions_cached (const Functions *f, unsigned int prototype) {
  const struct CachedFunction *c = &f->cache->places[prototype & f->cache->mask];
  return c->prototype == prototype ? c->number : 0;
}

/* Returns the number of a prototype with that name, and enters it in the cache. If the number is
   new, sets *isnew to 1; the caller then emits it with *name, which may have become a shared name
   (FU1). If there is not enough memory, one name may receive several numbers. */
uint32_t functions_number (Functions *f, unsigned int prototype, FunctionName *name,
                           int *isnew);

#endif
