/* SPDX-License-Identifier: MIT */
/*
** The functions of a session: those of one name, line and source have one number,
** 1, 2, …, however many prototypes there are. A server that loads a template makes
** some at each request; in the profile they are what they are in the program's text.
** Knows nothing but memory.
**
** What a prototype's number is, is remembered in a cache by the prototype's own
** (unsigned, never 0, no two alike); what is not there is named again, and found by
** its name's hash, whose keys nobody knows: texts are not kept.
**   FU1  at most FUNCTIONS_MOST numbers, the last one for all functions that find
**        no room. Of functions of chunks that are no files, which may have a new
**        source at each load, FUNCTIONS_CHUNKS at most have numbers of their own;
**        behind these their source is [other chunks];
**   FU2  the memory is bounded: 16 bytes a number, two thirds of them in use, and the
**        cache, which grows with what is in it: of ten thousand states few know many
**        functions;
**   FU3  places of the cache that are not empty are listed, as long as there are no more
**        than FUNCTIONS_LISTED: a state that lives for a request clears these alone.
*/
#ifndef asamp_functions_h
#define asamp_functions_h

#include <stdint.h>

#include "bounds.h"
#include "idmap.h"

#define FUNCTIONS_CACHED	8192  /* prototypes at most, and at first; powers of 2 */
#define FUNCTIONS_FIRST	256
#define FUNCTIONS_LISTED	128   /* places of the cache that are cleared one by one */

typedef struct FunctionCache {
  uint32_t mask;		/* places less one; these are a power of 2 */
  struct CachedFunction {
    unsigned int prototype;	/* 0: none */
    uint32_t number;
  } places[];
} FunctionCache;

typedef struct Functions {
  FunctionCache *cache;
  uint32_t used;		/* places that are not empty */
  IdMap byname;		/* hash of a name, line and source -> number */
  uint16_t listed[FUNCTIONS_LISTED];
  uint32_t nlisted;	/* places in use; at FUNCTIONS_LISTED there may be more */
  uint32_t n;
  uint32_t nchunks;	/* of these, of chunks that are no files */
  unsigned int last;	/* the highest prototype that was named: those below are old */
  uint64_t lumped, lumpedchunks;  /* prototypes beyond FU1, as they first came */
} Functions;

/* What is told of a function (profile.h). */
typedef struct FunctionName {
  const char *name;
  int line;
  const char *source;
  int isfile;		/* the source is one */
} FunctionName;

/* 0: no memory. */
int functions_open (Functions *f);
void functions_close (Functions *f);

/* There are none, and what they had stays allocated (a fork may have caught it). */
void functions_forget (Functions *f);

/* A session begins: there are none. */
void functions_begin (Functions *f);

/* The number of the prototype, 0 when it is not in the cache. */
static inline uint32_t functions_cached (const Functions *f, unsigned int prototype) {
  const struct CachedFunction *c = &f->cache->places[prototype & f->cache->mask];
  return c->prototype == prototype ? c->number : 0;
}

/*
** The number of a prototype that is called so. *isnew: it is to be emitted, by the
** name that 'name' has then. Without memory a
** name may get more numbers than one.
*/
uint32_t functions_number (Functions *f, unsigned int prototype, FunctionName *name,
                           int *isnew);

#endif
