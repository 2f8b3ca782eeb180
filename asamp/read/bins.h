/* SPDX-License-Identifier: MIT */
/*
** Bins: totals per site in slices of time, or of allocated bytes, so that a part of a profile can
** be examined. A bin is the number of a slice. The length of a profile is known only at its end, so
** slices have a width of 1 at first, and pairs of slices are merged whenever a position lies after
** the last slice. Some tables of readersum.h store other numbers in 'node' and 'kind'. Invariants:
**
**   B1  a row's bin is below 'most'; the width is a power of 2;
**   B2  no two rows have the same bin, node and kind;
**   B3  at most BINS_MAXROWS rows, except that rows of node 0 may be added beyond the limit. A
**       sample that would need another row counts in the row of node 0 with its bin and kind.
*/
#ifndef asamp_bins_h
#define asamp_bins_h

#include "idmap.h"
#include "bounds.h"
#include "readprofile.h"

/* Largest number of slices (equal parts of the profile's length), also with ASAMP_TINY. */
#define BINS_MOST	16384u

/* Totals of a site (a node of the call tree and a kind of block) in one slice (one of the equal
   parts of the profile's length). The fields without a comment are as in a Site (sitetable.h). */
typedef struct BinRow {
  uint32_t bin, node, kind;
  uint64_t samples, bytes, survived, survivedbytes, later, laterbytes;
  uint64_t undecided, undecidedbytes;
  uint64_t ns;         /* ns of run time that the time samples of this row represent */
  uint64_t last;       /* time, in us, of the last of the samples that this row counts */
} BinRow;

typedef struct Bins {
  uint32_t most;       /* largest number of slices (equal parts of the profile's length),
			  preferably a power of 2; 0: no rows are added */
  uint64_t width;      /* length of a slice (one of the equal parts of the profile), in us of run
			  time or in allocated bytes */
  BinRow *rows;
  size_t n, size;      /* number of rows, capacity */
  IdMap bykey;         /* maps slice number, call tree node and kind to the row's index */
  uint64_t left;       /* sum of ReadSample.count over the samples that count at node 0, because
                          another row would exceed the limit of rows (B3) */
  int failed;          /* 1: memory ran out; nothing more is added */
} Bins;

/* Initializes the bins. 'most' <= BINS_MOST. */
void bins_init (Bins *b, uint32_t most);
/* Adds a sample to the slice (part of the profile's length) that has its time. 'fate': whether the
   sample survived (READER_DIED, ...). */
void bins_add (Bins *b, const ReadSample *s, int fate);
/*
** Adds a sample to the slice of position 'at', which has the unit of 'width' (us or bytes). The
** sample counts at the arguments 'node' and 'kind', not at its own node and kind.
*/
void bins_addat (Bins *b, const ReadSample *s, int fate, uint64_t at, uint32_t node,
                 uint32_t kind);
/*
** Counts a survivor as one that died later. The caller has added the survivor by bins_addat at the
** same position 'at', with its own node and kind.
*/
void bins_deathat (Bins *b, const ReadSample *s, uint64_t at);
/* As bins_deathat, for a survivor that was added by bins_add. */
void bins_death (Bins *b, const ReadSample *s);
/*
** Sorts the rows by bin, node and kind, and multiplies their bytes by 'scale'. Nothing can be added
** after that.
*/
void bins_finish (Bins *b, uint64_t scale);
/* Frees the memory; the bins must not be used any more. */
void bins_free (Bins *b);

#endif
