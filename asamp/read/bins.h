/* SPDX-License-Identifier: MIT */
/*
** Bins: totals per site in slices of time, so that a stretch of a profile can
** be looked at. How long a profile is shows at its end: slices begin short,
** and whenever a sample lies beyond the last one, each pair becomes one.
** Invariants:
**   B1  a row's bin is below 'most'; width = 2^k us;
**   B2  no two rows have the same bin, node and kind;
**   B3  at most BINS_MAXROWS rows and one for each bin and kind: what would
**       need another is counted at node 0 of its bin.
*/
#ifndef asamp_bins_h
#define asamp_bins_h

#include "idmap.h"
#include "bounds.h"
#include "readprofile.h"

/* The most slices that can be asked for, with ASAMP_TINY too. */
#define BINS_MOST	16384u

typedef struct BinRow {
  uint32_t bin, node, kind;
  uint64_t samples, bytes, survived, survivedbytes, later, laterbytes;
  uint64_t undecided, undecidedbytes;
  uint64_t ns;         /* of samples of time: what they stand for */
} BinRow;

typedef struct Bins {
  uint32_t most;       /* bins, a power of 2 is best; 0: nothing is kept */
  uint64_t width;      /* us */
  BinRow *rows;
  size_t n, size;
  IdMap bykey;
  uint64_t left;       /* samples for which B3 was the answer */
  int failed;          /* memory ran out */
} Bins;

/* 'most' <= BINS_MOST. */
void bins_init (Bins *b, uint32_t most);
/* 'fate': READER_SURVIVED and so on. */
void bins_add (Bins *b, const ReadSample *s, int fate);
/* One that was added has died later: counted where it was born. */
void bins_death (Bins *b, const ReadSample *s);
/* Sorts the rows by bin, node, kind; bytes are multiplied by 'scale'. */
void bins_finish (Bins *b, uint64_t scale);
void bins_free (Bins *b);

#endif
