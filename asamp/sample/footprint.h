/* SPDX-License-Identifier: MIT */
/*
** Measures where the memory of a state is, and which source lines caused it. The first part has the
** memory areas that the core reports (luaN_places) and the resident bytes of its mapped chunks. The
** second part has two sums by source line, computed from the followed samples:
**
**   -  free bytes of blocks in use. A block with few live objects cannot be returned to the system,
**      so its free bytes are charged to the allocation sites of its live objects: a sample that
**      represents b live bytes is charged b * free / used bytes of its block. Over all samples, the
**      expectation for a source line is the free bytes of each block times the line's share of the
**      block's live bytes (Horvitz-Thompson estimator). Dead objects also use memory, so a
**      remainder is charged to no line;
**   -  the bytes of native memory that is not freed (mallocs.h).
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

#define FOOTPRINT_LINES	16u	/* largest number of source lines listed for each of the two sums */

enum { FOOTPRINT_FREE, FOOTPRINT_NATIVE, FOOTPRINT_SORTS };

/* A source line, and the bytes charged to it: native memory that is not freed, or free bytes of
   blocks that objects allocated by the line keep in use. */
typedef struct FootprintLine {
  char *where;		/* text "source:line", allocated with malloc */
  uint64_t bytes;
} FootprintLine;

/* The measurement of one state at one time. All sizes are in bytes. */
typedef struct Footprint {
  luaN_Places places;
  uint64_t resident;	/* Resident bytes of the state's memory chunks that were mapped by mmap. */
  uint64_t outside;	/* External bytes that userdata own. */
  FootprintLine *lines[FOOTPRINT_SORTS];  /* For each of the two sums, its source lines in
					     descending order of bytes. */
  size_t n[FOOTPRINT_SORTS];
  uint64_t rest[FOOTPRINT_SORTS];
} Footprint;

/*
** Fills *f. Call it after a collection, on the thread that runs the state. Allocates with malloc.
** If there is not enough memory, source lines are counted in 'rest' or are missing.
*/
void footprint_take (Footprint *f, lua_State *L, const Followed *followed,
                     const BirthFunctions *functions);
void footprint_free (Footprint *f);

/* Returns the text "source:line", or "?" if the function is unknown. The caller frees it. Returns
   NULL if there is not enough memory. */
char *footprint_where (const BirthFunctions *functions, uint32_t function, uint32_t line);

#endif
