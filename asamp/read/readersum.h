/* SPDX-License-Identifier: MIT */
/*
** The totals of a profile: a client of the reader that adds up the events. Call readersum_start,
** set the fields that select events, then call reader_read with &client, readersum_finish and
** readersum_free. A sample of n sampling periods counts n times. Tables are limited (bounds.h);
** 'left' counts the dropped data.
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

/* Totals of the allocation samples of one kind of block. */
typedef struct KindTotals {
  uint64_t blocks;     /* number of samples, each counted once */
  /* Estimated number of allocated blocks: each sample adds (bytes that it represents) / (size of
     its block). */
  double objects;
  uint64_t outside;    /* number of samples of blocks allocated outside the nursery */
} KindTotals;

/* Totals of a label set. */
typedef struct LabelTotals {
  /* 'samples' to 'undecidedbytes': allocation samples, as in Site (sitetable.h). 'timesamples':
     number of time samples. 'ns': time that they represent, ns. */
  uint64_t samples, bytes, survivedbytes, laterbytes, undecidedbytes, timesamples, ns;
  /* 'minors', 'majors', 'pause': numbers and total pause (us) of the collections while a thread
     with this label set ran. 'exact': bytes allocated with this set, counted, not sampled. */
  uint64_t minors, majors, pause, exact;
} LabelTotals;

#define READERSUM_WALKS	BOUND(64u, 4u)  /* largest number of heap walks kept */

typedef struct ReaderSum {
  ReaderClient client; /* to be passed to reader_read */
  SiteTable table;        /* all samples, by call tree node and kind */
  /* Survivors that died later, by call tree node and lifetime. Site.kind is here the number of
     binary digits of the bytes allocated during the life. */
  SiteTable lives;
  /* Samples that died, by kind of block and lifetime. Site.node is here the kind, and Site.kind the
     number of binary digits of the lifetime in us. */
  SiteTable times;
  Ages ages;              /* survival by age; empty for files of other writers */
  const ReadProfile *profile;  /* NULL until the head of the file was read */
  /* Survivors alive at the end of the file, by call tree node and path of references. Site.kind is
     here the index of the path in ReadProfile.paths + 1; 0: unknown. */
  SiteTable held;
  /* Samples of copied bytes, by call tree node and reason of the copy. Site.kind is here 0 for
     COPY_NEW, 1 for COPY_AGAIN, 2 for COPY_GROWN (sample.h). */
  SiteTable copies;
  KindTotals *kinds;   /* by kind of block: READER_MAXKINDS elements */
  LabelTotals *labels;  /* totals by label set; labels[0]: of the samples without labels */
  size_t nlabels, labelsize;  /* number of elements of 'labels', capacity */
  /* 1: LabelTotals.exact is known for all label sets that the client selects. */
  int exactlabels;
  uint64_t labelled;   /* sum of LabelTotals.exact */
  Tags *tags;          /* makes 'table' distinguish Lua states, OS threads and labels; NULL: it does
                          not */
  Course course;       /* history of the collections */
  Marks marks;
  Pictures pictures;   /* snapshots of resident memory */
  ReadWalk walks[READERSUM_WALKS];  /* one of every 'walkstep' heap walks */
  size_t nwalks;       /* number of walks in 'walks' */
  uint64_t walkstep, walkcount;  /* 'walks' has every walkstep-th walk; number of all walks */
  Bins bins;           /* all samples, by slice of time */
  /* Survivors that died later, by slice of the time of death. Only 'samples' and 'bytes' are
     set. */
  Bins gone;
  /* The next three tables are empty if 'bins' is empty. The slices of 'born' and 'alive' are ranges
     of allocated bytes (ReadSample.born), not of time. */
  Bins born;           /* allocation samples that died or survived */
  /* Survivors alive at the end of the file, without native memory. BinRow.kind is here 2 * p + q: p
     is the path of references as in 'held', q is 1 for a table's array or hash part. */
  Bins alive;
  Bins worked;         /* time samples by slice of time, all at node 0 and kind 0 */
  /* Only samples and collections with since <= time < till count, us. */
  uint64_t since, till;
  /* Only allocation samples that were alive at this time count, us since the start.
     READERSUM_EVER: all samples count. */
  uint64_t instant;
  uint64_t left[LEFT_N];  /* counts of dropped data, set by readersum_finish */
} ReaderSum;

#define READERSUM_PARTS	64u	/* largest number of slices of 'born' and 'alive' */
#define READERSUM_FINE	256u	/* largest number of slices of 'worked' */

#define READERSUM_EVER	UINT64_MAX  /* value of ReaderSum.instant: all samples count; of
                                       ReaderSum.till: no end */

/* Initializes the totals. 'bins': largest number of slices of time; 0: no slices. 'instant': value
   for ReaderSum.instant. Returns 0 if out of memory; call readersum_free in either case. */
int readersum_start (ReaderSum *s, uint32_t bins, uint64_t instant);
/* Completes the totals after the last event: multiplies bytes by r->scale, counts dropped data in
   'left'. */
void readersum_finish (ReaderSum *s, const ReadProfile *r);
void readersum_free (ReaderSum *s);

#endif
