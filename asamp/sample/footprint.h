/* SPDX-License-Identifier: MIT */
/*
** Measures the memory of a state: the areas that the Lua core reports (luaN_places), the resident
** bytes, and two sums for each source line, computed from the live samples (followed.h):
**
**   FOOTPRINT_FREE    free bytes in heap blocks that also have live objects. A sample's share is
**                     the bytes that it represents, times the ratio of free to used bytes in its
**                     heap block
**   FOOTPRINT_NATIVE  native memory (from malloc) that is not freed yet
**
**   FP1  each sum has at most FOOTPRINT_LINES source lines. Footprint.rest has the bytes of further
**        lines;
**   FP2  a Footprint owns its strings. Another thread may read it under the lock of resident.h.
*/
#ifndef asamp_footprint_h
#define asamp_footprint_h

#include "lua.h"

#include "births.h"
#include "followed.h"
#include "seam.h"

#define FOOTPRINT_LINES	16u	/* largest number of source lines in each element of
                                   Footprint.lines */

enum { FOOTPRINT_FREE, FOOTPRINT_NATIVE, FOOTPRINT_SORTS };

/* A source line, and its bytes: free bytes in heap blocks for FOOTPRINT_FREE, native memory for
   FOOTPRINT_NATIVE. */
typedef struct FootprintLine {
  char *where;		/* "source:line", allocated with malloc */
  uint64_t bytes;
} FootprintLine;

/* The measurement of one state at one time. All sizes are in bytes. */
typedef struct Footprint {
  luaN_Places places;
  uint64_t resident;	/* Resident bytes of the heap's mapped chunks. */
  uint64_t outside;	/* Bytes outside the Lua heap that userdata own. */
  /* The source lines with most bytes, most first. lines[FOOTPRINT_FREE]: free bytes in heap blocks;
     lines[FOOTPRINT_NATIVE]: native memory. */
  FootprintLine *lines[FOOTPRINT_SORTS];
  size_t n[FOOTPRINT_SORTS];	/* n[i]: number of elements of lines[i] */
  uint64_t rest[FOOTPRINT_SORTS];	/* rest[i]: bytes of all source lines not in lines[i] */
} Footprint;

/* Fills *f. Call it after a collection, on the state's thread. If out of memory, some source lines
   are missing in f->lines; their bytes are in f->rest or are missing, too. */
void footprint_take (Footprint *f, lua_State *L, const Followed *followed,
                     const BirthFunctions *functions);
void footprint_free (Footprint *f);

/* Returns "source:line", or "?" if the function is unknown; the caller frees it. Returns NULL if
   out of memory. */
char *footprint_where (const BirthFunctions *functions, uint32_t function, uint32_t line);

#endif
