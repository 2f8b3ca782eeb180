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

/* Totals of the allocation samples of one kind. */
typedef struct KindTotals {
  uint64_t blocks;     /* number of samples */
  /* Estimated number of allocated blocks. A sample stands for (the bytes that it represents) /
     (size of its block) blocks. */
  double objects;
  uint64_t outside;    /* number of samples of blocks allocated outside the nursery */
} KindTotals;

/* Totals of a label set. */
typedef struct LabelTotals {
  /* 'samples' to 'undecidedbytes': allocation samples, as in Site (sitetable.h). 'timesamples':
     number of time samples. 'ns': time that they represent, ns. */
  uint64_t samples, bytes, survivedbytes, laterbytes, undecidedbytes, timesamples, ns;
  /* Numbers of minor and major collections while a thread with this label set ran. 'pause': sum of
     their pauses, us. 'exact': all bytes allocated with this set, counted, not sampled. */
  uint64_t minors, majors, pause, exact;
} LabelTotals;

#define READERSUM_WALKS	BOUND(64u, 4u)  /* largest number of heap walks kept */

typedef struct ReaderSum {
  ReaderClient client; /* to be passed to reader_read */
  SiteTable table;        /* all samples, by call tree node and kind */
  /* Survivors that died later. Site.node is the call tree node. Site.kind is the lifetime: the
     number of binary digits of the bytes allocated during the life. */
  SiteTable lives;
  /* All samples that died. Site.node is the kind of block. Site.kind is the lifetime: the number
     of binary digits of the us. */
  SiteTable times;
  Ages ages;              /* survival by age; empty for files of other writers */
  const ReadProfile *profile;  /* NULL before the callback 'head' */
  /* Survivors alive at the end of the file. Site.kind is the path of references to the sample, as
     index + 1 in ReadProfile.paths; 0: unknown. */
  SiteTable held;
  /* Samples of copied bytes. Site.kind is 0 for COPY_NEW, 1 for COPY_AGAIN, 2 for COPY_GROWN. */
  SiteTable copies;
  KindTotals *kinds;   /* by kind of block: READER_MAXKINDS elements */
  LabelTotals *labels;  /* by label set; labels[0]: without labels */
  size_t nlabels, labelsize;  /* number of elements, capacity */
  /* 1: LabelTotals.exact is known. It is 0 for label sets that the client does not select. */
  int exactlabels;
  uint64_t labelled;   /* sum of LabelTotals.exact */
  Tags *tags;          /* if not NULL: the sites of 'table' have tags for Lua state, OS thread and
                          labels */
  Course course;       /* history of the collections */
  Marks marks;
  Pictures pictures;   /* snapshots of resident memory */
  ReadWalk walks[READERSUM_WALKS];  /* the first heap walk and every 'walkstep'-th after it */
  size_t nwalks;       /* number of walks in 'walks' */
  uint64_t walkstep, walkcount;  /* every walkstep-th walk is kept; number of walks so far */
  Bins bins;           /* all samples, by slice of time */
  /* Survivors that died later, by slice of the time of death. Only 'samples' and 'bytes' are
     set. */
  Bins gone;
  /* 'born', 'alive' and 'worked' are empty if 'bins' is empty. A slice of 'born' or 'alive' is a
     range of ReadSample.born, in bytes. */
  Bins born;           /* allocation samples with an outcome */
  /* Survivors alive at the end of the file, without samples of native memory. BinRow.kind is 2 *
     (path of references as in 'held'), plus 1 if the block is a table's array or hash part. */
  Bins alive;
  Bins worked;         /* time samples by slice of time, all at node 0 and kind 0 */
  /* Only samples and collections with since <= time < till count, us. */
  uint64_t since, till;
  /* If not READERSUM_EVER: only allocation samples alive at this time count, us since the
     start. */
  uint64_t instant;
  uint64_t left[LEFT_N];  /* counts of dropped data, set by readersum_finish */
} ReaderSum;

#define READERSUM_PARTS	64u	/* largest number of slices of 'born' and 'alive' */
#define READERSUM_FINE	256u	/* largest number of slices of 'worked' */

#define READERSUM_EVER	UINT64_MAX  /* as 'instant': not used; as 'till': no end */

/* Initializes the totals. 'bins': largest number of slices of time; 0: no slices. 'instant':
   see ReaderSum. Returns 0 if there is not enough memory; call readersum_free in either case. */
int readersum_start (ReaderSum *s, uint32_t bins, uint64_t instant);
/* Completes the totals of r: multiplies bytes by r->scale and sets 'left'. No event may follow. */
void readersum_finish (ReaderSum *s, const ReadProfile *r);
void readersum_free (ReaderSum *s);

#endif
