/* SPDX-License-Identifier: MIT */
/*
** Totals by slice and by site (call tree node and kind of block). A slice is a range of time or of
** allocated bytes; a bin is the number of a slice. The length of the profile is not known at first,
** so slices start with width 1. If a sample lies beyond the last possible slice, the width of all
** slices is doubled: pairs of slices are merged.
**
**   B1  a row's bin is below 'most'; the width is a power of 2;
**   B2  no two rows have the same bin, node and kind;
**   B3  at most BINS_MAXROWS rows, and two more rows of node 0 for each bin. A sample that would
**       need a further row counts in one of these two rows: a time sample in the row of the kind
**       READER_TIMESAMPLE, any other sample in the row of the kind READER_UNKNOWN.
*/
#ifndef asamp_bins_h
#define asamp_bins_h

#include "idmap.h"
#include "bounds.h"
#include "readprofile.h"

/* Upper limit of Bins.most, the number of slices. */
#define BINS_MOST	16384u

/* Totals of a site in one slice. Fields without a comment are as in Site (sitetable.h). */
typedef struct BinRow {
  uint32_t bin, node, kind;
  uint64_t samples, bytes, survived, survivedbytes, later, laterbytes;
  uint64_t undecided, undecidedbytes;
  uint64_t ns;         /* time that the time samples represent, ns */
  uint64_t last;       /* time of the last sample of the site in this slice, us */
} BinRow;

typedef struct Bins {
  uint32_t most;       /* largest number of slices; 0: samples are ignored */
  uint64_t width;      /* length of a slice, us or allocated bytes */
  BinRow *rows;
  size_t n, size;      /* number of rows; capacity of 'rows', in rows */
  IdMap bykey;         /* maps bin, node and kind to the row's index */
  uint64_t left;       /* number of sampling periods that are counted at node 0 instead of the
                          sample's node, because there are BINS_MAXROWS rows */
  int failed;          /* 1: out of memory; no more samples are added */
} Bins;

/* Initializes the bins. 'most': largest number of slices, at most BINS_MOST. */
void bins_init (Bins *b, uint32_t most);
/* Adds a sample to the slice of its time. 'fate' is READER_DIED, READER_SURVIVED or
   READER_UNDECIDED. */
void bins_add (Bins *b, const ReadSample *s, int fate);
/* Adds a sample to the slice that contains the position 'at' (us or bytes). Uses 'node' and 'kind'
   instead of those of the sample. */
void bins_addat (Bins *b, const ReadSample *s, int fate, uint64_t at, uint32_t node, uint32_t kind);
/* Counts the death of a survivor, which bins_addat must have added with the same 'at', s->node and
   s->kind. Otherwise a row could have more deaths than survivors. */
void bins_deathat (Bins *b, const ReadSample *s, uint64_t at);
/* Counts the death of a survivor that was added by bins_add. */
void bins_death (Bins *b, const ReadSample *s);
/* Sorts the rows by bin, node and kind, and multiplies their bytes by 'scale'. No samples can be
   added later. */
void bins_finish (Bins *b, uint64_t scale);

void bins_free (Bins *b);

#endif
