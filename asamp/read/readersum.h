/* SPDX-License-Identifier: MIT */
/*
** The totals of a profile: a client of the reader that adds its events up.
** Memory grows with sites, up to a limit, and with nothing else.
** Knows no Lua and no file.
*/
#ifndef asamp_readersum_h
#define asamp_readersum_h

#include "ages.h"
#include "bins.h"
#include "course.h"
#include "sitetable.h"
#include "marks.h"
#include "pictures.h"
#include "readprofile.h"
#include "tags.h"

/* Of a kind, over the blocks that were sampled (details only). */
typedef struct KindTotals {
  uint64_t blocks;
  double objects;      /* blocks that these stand for: a sample of count c
                          at period p of a block of s bytes for c * p / s */
  uint64_t outside;    /* of the blocks, allocated outside the nursery */
} KindTotals;

/* Of a set of labels: sums of samples, as those of a Site; and collections that came while
   a thread ran that had it, their pauses in us. */
typedef struct LabelTotals {
  uint64_t samples, bytes, survivedbytes, laterbytes, undecidedbytes, timesamples, ns;
  uint64_t minors, majors, pause;
} LabelTotals;

#define READERSUM_WALKS	BOUND(64u, 4u)

typedef struct ReaderSum {
  ReaderClient client; /* hand this to reader_read */
  SiteTable table;
  SiteTable lives;        /* samples that died later: node, and the number of binary
                          digits of the bytes allocated in their life */
  SiteTable times;        /* samples that are known to have died: kind in the place of the
                          node, and the number of binary digits of the us until then */
  Ages ages;              /* survival by age */
  const ReadProfile *profile;
  SiteTable held;        /* samples alive whose holder is told: node, and path */
  SiteTable copies;      /* node, and the sort of copy; none of an instant */
  KindTotals *kinds;   /* READER_MAXKINDS of them */
  LabelTotals *labels;  /* by set; 0: of what has none */
  size_t nlabels, labelsize;
  Tags *tags;          /* sites are told apart by these; NULL: they are not */
  Course course;       /* collections */
  Marks marks;
  Pictures pictures;   /* of where memory was */
  ReadWalk walks[READERSUM_WALKS];  /* the first, and each 'walkstep'-th behind it */
  size_t nwalks;
  uint64_t walkstep, walkcount;
  Bins bins;
  Bins gone;           /* what died later, in the slices in which it was found dead:
                          samples and bytes. Its slices may be as wide as those of
                          'bins' doubled or halved some times */
  /*
  ** READERSUM_EVER, or a time in us since the start: only samples that were alive then
  ** count, as far as collections have found out; none of time. Bins stay empty.
  */
  uint64_t since;      /* us: what was sampled before does not count, ... */
  uint64_t till;       /* ... nor what was from here on */
  uint64_t instant;
  uint64_t left[LEFT_N];  /* by limits: the ReadProfile's, and those of the sums */
} ReaderSum;

#define READERSUM_EVER	UINT64_MAX

/* 'bins' (0: none) at most BINS_MOST. 0 without memory; free it all the same. */
int readersum_start (ReaderSum *s, uint32_t bins, uint64_t instant);
/* After reader_read. */
void readersum_finish (ReaderSum *s, const ReadProfile *r);
void readersum_free (ReaderSum *s);

#endif
