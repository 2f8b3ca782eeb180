/* SPDX-License-Identifier: MIT */
/*
** Bins: totals per site in time slices, so that a part of a profile can be examined. The length
** of a profile is known only at its end: slices are short at first, and pairs of them are
** merged whenever a sample lies after the last one. Invariants:
**
**   B1  a row's bin is below 'most'; width = 2^k us;
**   B2  no two rows have the same bin, node and kind;
**   B3  at most BINS_MAXROWS rows plus one for each bin and kind: beyond the limit a sample
**       counts at node 0 of its bin.
*/
#ifndef asamp_bins_h
#define asamp_bins_h

#include "idmap.h"
#include "bounds.h"
#include "readprofile.h"

/* Largest number of slices, also with ASAMP_TINY. */
#define BINS_MOST	16384u

/* Totals of a site in one slice. */
typedef struct BinRow {
  uint32_t bin, node, kind;
  uint64_t samples, bytes, survived, survivedbytes, later, laterbytes;
  uint64_t undecided, undecidedbytes;
  uint64_t ns;         /* ns that time samples represent */
  uint64_t last;       /* time of the last sample, us */
} BinRow;

typedef struct Bins {
  uint32_t most;       /* number of bins, preferably a power of 2; 0: disabled */
  uint64_t width;      /* us, or bytes (bins_addat) */
  BinRow *rows;
  size_t n, size;
  IdMap bykey;
  uint64_t left;       /* samples counted at node 0 (B3) */
  int failed;          /* 1: memory ran out */
} Bins;

/* Initializes the bins. 'most' <= BINS_MOST. */
void bins_init (Bins *b, uint32_t most);
/* Adds a sample. 'fate': READER_SURVIVED and so on. */
void bins_add (Bins *b, const ReadSample *s, int fate);
/*
** As bins_add, at position 'at' (bytes in slices of bytes, else us), with the given node and kind.
*/
void bins_addat (Bins *b, const ReadSample *s, int fate, uint64_t at, uint32_t node,
                 uint32_t kind);
/* As bins_death, for a sample that was added by bins_addat. */
void bins_deathat (Bins *b, const ReadSample *s, uint64_t at);
/*
** Notes that a sample added before has died later: counts it in the slice in which it was
** taken.
*/
void bins_death (Bins *b, const ReadSample *s);
/* Sorts the rows by bin, node and kind, and multiplies their bytes by 'scale'. */
void bins_finish (Bins *b, uint64_t scale);
void bins_free (Bins *b);

#endif
