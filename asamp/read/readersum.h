/* SPDX-License-Identifier: MIT */
/*
** The totals of a profile, computed by a client of the reader that adds up the events. Call
** readersum_start, set the fields that select events, call reader_read with &client, then
** readersum_finish and readersum_free. A sample that represents n sampling periods counts n times.
** Tables are limited (bounds.h); 'left' counts the dropped data.
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
  uint64_t blocks;     /* number of samples; one that represents several sampling periods counts
                          once */
  /* Estimated number of allocated blocks: each sample adds (bytes that it represents) / (size of
     its block). */
  double objects;
  uint64_t outside;    /* number of samples whose block was allocated outside the nursery */
} KindTotals;

/* Totals of a label set. */
typedef struct LabelTotals {
  /* Totals. 'samples' to 'undecidedbytes' are of allocation samples, as in Site (sitetable.h).
     'timesamples' and 'ns' are the number of time samples and the time that they represent, ns. */
  uint64_t samples, bytes, survivedbytes, laterbytes, undecidedbytes, timesamples, ns;
  /* minors, majors, pause: numbers and total pause (us) of the collections that ran while a thread
     had this label set. exact: exact number of bytes allocated with this set. */
  uint64_t minors, majors, pause, exact;
} LabelTotals;

#define READERSUM_WALKS	BOUND(64u, 4u)  /* largest number of heap walks in ReaderSum.walks */

typedef struct ReaderSum {
  ReaderClient client; /* the client, to be passed to reader_read */
  SiteTable table;        /* allocation and time samples, by call tree node, kind and tag */
  /* Survivors that died later, by call tree node and lifetime. The lifetime is measured in bytes
     allocated during the block's life. Site.kind is not a kind of block but the lifetime's class:
     the number of binary digits of these bytes. */
  SiteTable lives;
  /* Samples that died, by kind of block and lifetime. The fields of a Site have other meanings
     here: 'node' is the kind of block; 'kind' is the class of the lifetime, the number of binary
     digits of the us from allocation to death. */
  SiteTable times;
  /* survival by age; empty if the file is not from asamp but from another profiler */
  Ages ages;
  const ReadProfile *profile;  /* NULL until the head of the file was read */
  /* Survivors alive at the end of the file, by call tree node and by the path of references that
     keeps them alive. Site.kind is the index of the path in ReadProfile.paths + 1; 0: unknown. */
  SiteTable held;
  /* Samples of copied bytes, by call tree node and reason of the copy. Site.kind is the reason: 0
     for COPY_NEW, 1 for COPY_AGAIN, 2 for COPY_GROWN (sample.h). */
  SiteTable copies;
  KindTotals *kinds;   /* totals by kind of block; READER_MAXKINDS elements */
  LabelTotals *labels;  /* totals by label set; labels[0]: of the samples without labels */
  size_t nlabels, labelsize;  /* number of elements of 'labels', capacity */
  /* 1: LabelTotals.exact is known for all label sets that the client selects. */
  int exactlabels;
  uint64_t labelled;   /* sum of LabelTotals.exact over all label sets, bytes */
  /* If not NULL, the totals in 'table' are separate for the Lua states, OS threads and labels that
     these tags distinguish (tags.h). */
  Tags *tags;
  Course course;       /* history of the collections */
  Marks marks;
  Pictures pictures;   /* snapshots of resident memory */
  ReadWalk walks[READERSUM_WALKS];  /* the first heap walk and every walkstep-th after it */
  size_t nwalks;       /* number of walks in 'walks' */
  uint64_t walkstep, walkcount;  /* 'walkstep' (a power of 2): the first of each 'walkstep' walks
                                    is kept. 'walkcount': number of all heap walks. */
  Bins bins;           /* allocation and time samples, by slice of time, call tree node and kind */
  /* Survivors that died later, by time of death (divided into slices), call tree node and kind. Of
     the totals, only BinRow.samples and BinRow.bytes are set. */
  Bins gone;
  /* Allocation samples that died or survived, by ReadSample.born (the bytes that the program had
     allocated), divided into slices. Empty if readersum_start was called with 'bins' 0. */
  Bins born;
  /* Survivors alive at the end of the file, without native memory, by ReadSample.born (the bytes
     that the program had allocated), divided into slices. Empty if readersum_start was called with
     'bins' 0. BinRow.kind is 2 * path + part.
     path  index in ReadProfile.paths + 1 of the path of references that keeps the block alive;
           0: unknown, or the last heap walk did not reach the block
     part  1: the block is the array or hash part of a table; 0: it is another block */
  Bins alive;
  Bins worked;         /* Time samples by slice of time. In all rows, the call tree node and the
                          kind are 0. Empty if readersum_start was called with 'bins' 0. */
  /* Range of time, us: a sample counts only if its time is at least 'since' and below 'till'.
     LabelTotals counts only the collections in this range; 'course' counts all collections. */
  uint64_t since, till;
  /* Time, us since the start: only allocation samples that were alive at this time count.
     READERSUM_EVER: all samples count. */
  uint64_t instant;
  uint64_t left[LEFT_N];  /* counts of dropped data, set by readersum_finish */
} ReaderSum;

/* largest number of slices into which ReaderSum.born and .alive divide the allocated bytes */
#define READERSUM_PARTS	64u
/* largest number of slices into which ReaderSum.worked divides the time of the profile */
#define READERSUM_FINE	256u

#define READERSUM_EVER	UINT64_MAX  /* value of ReaderSum.instant and ReaderSum.till that selects
                                       all samples */

/* Initializes the totals. Returns 0 if out of memory; call readersum_free in either case.
   bins     largest number of slices into which time is divided; 0: no tables with slices
   instant  only allocation samples that were alive at this time count, us since the start;
            READERSUM_EVER: all samples */
int readersum_start (ReaderSum *s, uint32_t bins, uint64_t instant);
/* Completes the totals after the last event. Multiplies bytes by r->scale, the sampling period in
   files of other profilers. Determines whether the exact bytes of each label set are known
   ('exactlabels'). Counts dropped data in 'left'. */
void readersum_finish (ReaderSum *s, const ReadProfile *r);
void readersum_free (ReaderSum *s);

#endif
