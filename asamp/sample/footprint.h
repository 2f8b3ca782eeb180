/* SPDX-License-Identifier: MIT */
/*
** Where the memory of a state is, and by which lines: its places as the core tells them
** (luaN_places), what of its chunks is resident, and of the samples that are followed two
** sums by line:
**
**   - free lines of blocks in use. A block whose lines are nearly all free cannot go back
**     for the few that are not. Whoever made what lies in these is charged with the free
**     ones: a sample stands for b bytes that are alive, so for b * free / used of its
**     block. The mean of that sum over all ways to sample is, for each line, the sum over
**     blocks of their free bytes times its share of what is alive there (Horvitz and
**     Thompson's estimator). What is left over is nobody's: dead objects keep lines, too;
**   - native memory that is not freed (mallocs.h).
**
**   FP1 FOOTPRINT_LINES lines of each sort; 'rest' has the bytes of the others.
**   FP2 a Footprint owns its texts; it may be read by another thread under the lock of
**       whoever keeps it.
*/
#ifndef asamp_footprint_h
#define asamp_footprint_h

#include "lua.h"

#include "births.h"
#include "followed.h"
#include "seam.h"

#define FOOTPRINT_LINES	16u

enum { FOOTPRINT_FREE, FOOTPRINT_NATIVE, FOOTPRINT_SORTS };

typedef struct FootprintLine {
  char *where;		/* "source:line" */
  uint64_t bytes;
} FootprintLine;

typedef struct Footprint {
  luaN_Places places;
  uint64_t resident;	/* of chunks that are mapped */
  uint64_t outside;	/* what userdata stand for */
  FootprintLine *lines[FOOTPRINT_SORTS];  /* most bytes first */
  size_t n[FOOTPRINT_SORTS];
  uint64_t rest[FOOTPRINT_SORTS];
} Footprint;

/* Fills it, on the thread that runs the state, when a collection is over. Takes memory
   from malloc, and does without lines where there is none. */
void footprint_take (Footprint *f, lua_State *L, const Followed *followed,
                     const BirthFunctions *functions);
void footprint_free (Footprint *f);

/* The text of a line, to be freed; NULL: no memory. */
char *footprint_where (const BirthFunctions *functions, uint32_t function, uint32_t line);

#endif
