/* SPDX-License-Identifier: MIT */
/*
** Measures where the memory of a state is, and which source lines caused it: the memory areas
** that the core reports (luaN_places), the resident part of its mapped chunks, and two sums by
** source line over the followed samples:
**
**   -  free bytes of blocks in use. A block with few live objects cannot be returned to the
**      system. The allocation sites of its live objects are charged with its free bytes: a
**      sample that represents b live bytes is charged b * free / used bytes of its block. The
**      expectation of this sum is, for each source line, the sum over blocks of their free
**      bytes times the source line's share of the live bytes there (Horvitz-Thompson estimator).
**      The remainder is charged to no source line: dead objects use memory too;
**   -  native memory that is not freed (mallocs.h).
**
**   FP1  at most FOOTPRINT_LINES source lines for each sum; 'rest' has the bytes of all others;
**   FP2  a Footprint owns its strings. Another thread may read it under the lock of resident.h.
*/
#ifndef asamp_footprint_h
#define asamp_footprint_h

#include "lua.h"

#include "births.h"
#include "followed.h"
#include "seam.h"

#define FOOTPRINT_LINES	16u	/* source lines per sum */

enum { FOOTPRINT_FREE, FOOTPRINT_NATIVE, FOOTPRINT_SORTS };

/* A source line and its bytes. */
typedef struct FootprintLine {
  char *where;		/* "source:line", from malloc */
  uint64_t bytes;
} FootprintLine;

/* The measurement of one state at one time. Sizes in bytes. */
typedef struct Footprint {
  luaN_Places places;
  uint64_t resident;	/* Resident bytes of mapped chunks. */
  uint64_t outside;	/* External bytes that userdata own. */
  FootprintLine *lines[FOOTPRINT_SORTS];  /* Largest first. */
  size_t n[FOOTPRINT_SORTS];
  uint64_t rest[FOOTPRINT_SORTS];
} Footprint;

/*
** Fills the Footprint after a collection, on the thread that runs the state. Allocates with
** malloc; source lines for which there is no memory are in 'rest', or missing.
*/
void footprint_take (Footprint *f, lua_State *L, const Followed *followed,
                     const BirthFunctions *functions);
void footprint_free (Footprint *f);

/* Returns the text "source:line", or "?" for an unknown function; the caller frees it. NULL: there
   is not enough memory. */
char *footprint_where (const BirthFunctions *functions, uint32_t function, uint32_t line);

#endif
