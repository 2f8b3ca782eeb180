/* SPDX-License-Identifier: MIT */
/*
** The totals of a profile: a client of the reader that adds up the events. All tables have limits
** (bounds.h); ReaderSum.left counts the data dropped beyond them. Independent of Lua and files.
**
** Order of calls: readersum_start; the caller sets fields (client.only and similar, tags, since,
** till); reader_read with &client; readersum_finish; readersum_free. A time sample is added when it
** is delivered. An allocation sample is added when its survival outcome is delivered (callback
** 'fate'). A number of samples is the sum of their ReadSample.count: a sample that represents n
** sampling periods counts n times.
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

/* Totals over the allocation samples of one kind. */
typedef struct KindTotals {
  uint64_t blocks;     /* number of samples, each of which is one block */
  /* Estimated number of allocated blocks. A sample of count c and period p in a block of s bytes
     represents c * p / s blocks; 0 if s is unknown. */
  double objects;
  uint64_t outside;    /* number of samples allocated outside the nursery */
} KindTotals;

/* Totals of a label set. Only files written by asamp, whose 'scale' is 1, have label sets. */
typedef struct LabelTotals {
  /* The fields from 'samples' to 'undecidedbytes' are of allocation samples, as in a Site
     (sitetable.h). 'timesamples': sum of ReadSample.count over the time samples. 'ns': the ns that
     these represent. */
  uint64_t samples, bytes, survivedbytes, laterbytes, undecidedbytes, timesamples, ns;
  /* 'minors', 'majors': numbers of collections while a thread with this set ran. 'pause': sum of
     their pauses, us. 'exact': exact number of bytes allocated with this set. */
  uint64_t minors, majors, pause, exact;
} LabelTotals;

#define READERSUM_WALKS	BOUND(64u, 4u)  /* largest number of heap walks that are kept */

typedef struct ReaderSum {
  ReaderClient client; /* to be passed to reader_read */
  SiteTable table;        /* all samples, by node and kind */
  /* Survivors that died later, by the length of their life. Site.kind is not the kind of block but
     the number of binary digits of ReadDeath.allocated, the bytes allocated during the life, so
     that the table is a histogram. */
  SiteTable lives;
  /* All samples that are known to have died. Site.node is not a node but the kind. Site.kind is the
     number of binary digits of the life in us. */
  SiteTable times;
  Ages ages;              /* survival by age (ages.h); empty if another writer than asamp has
                             written the file */
  const ReadProfile *profile;  /* set by the callback 'head'; NULL before */
  /* Samples alive at the end whose death would have been recorded. Site.kind is not the kind of
     block but the number of the path of references to the sample (ReadProfile.paths); 0:
     unknown. */
  SiteTable held;
  /* Samples of copied bytes. Site.kind is 0 for COPY_NEW, 1 for COPY_AGAIN, 2 for COPY_GROWN
     (sample.h). Empty if 'instant' is used. */
  SiteTable copies;
  KindTotals *kinds;   /* totals of each kind of block: READER_MAXKINDS elements */
  LabelTotals *labels;  /* for each label set; labels[0] is of samples without labels */
  size_t nlabels, labelsize;  /* number of elements of 'labels', capacity */
  /* 1: LabelTotals.exact is known. Its sum over all sets is ReadProfile.allocated if the client
     selects all sets; a set that it does not select has 0. */
  int exactlabels;
  uint64_t labelled;   /* sum of the exact bytes of the callback 'labelled' */
  Tags *tags;          /* numbers of (Lua state, thread, label set) that also distinguish the sites
                          of 'table' (tags.h); NULL: not distinguished */
  Course course;       /* history of the collections */
  Marks marks;
  Pictures pictures;   /* snapshots of resident memory */
  ReadWalk walks[READERSUM_WALKS];  /* the first heap walk and every 'walkstep'-th after it */
  size_t nwalks;       /* number of walks in 'walks' */
  uint64_t walkstep, walkcount;  /* 'walkstep': each walkstep-th walk is kept in 'walks'.
                                    'walkcount': number of walks so far */
  Bins bins;           /* all samples, by the slice of time in which they were taken */
  /* Survivors that died later, by the slice of time in which they were found dead. Only 'samples'
     and 'bytes' of the rows are set. The width of a slice may differ from 'bins'. */
  Bins gone;
  /* 'born', 'alive' and 'worked' are empty if 'bins' is disabled. The slices of 'born' and 'alive'
     are ranges of ReadSample.born: of the bytes that all samples decided before represent. */
  Bins born;           /* allocation samples whose survival outcome is known */
  /* Samples alive at the end whose death would have been recorded, except samples of native memory.
     BinRow.kind is 2 * P, plus 1 if the block is the array part or hash part of a table. P is the
     number of the path of references that holds the sample; 0 if the path is unknown, or if the
     last heap walk did not reach the sample. */
  Bins alive;
  Bins worked;         /* time samples, by slice of time; 'node' and 'kind' are 0 */
  /* Range of time in us. Only samples with since <= time < till count. In LabelTotals this is also
     the range of collections. */
  uint64_t since, till;
  /* If not READERSUM_EVER: a time in us since the start. The totals then include only the
     allocation samples that were alive at that time: they were taken at or before it, and no
     collection at or before it found them dead. All Bins stay empty. */
  uint64_t instant;
  uint64_t left[LEFT_N];  /* counts of data that the reader or these tables dropped; set by
			     readersum_finish */
} ReaderSum;

#define READERSUM_PARTS	64u	/* largest number of slices of the fields 'born' and 'alive' of
				   ReaderSum */
#define READERSUM_FINE	256u	/* largest number of slices of the field 'worked' of ReaderSum */

#define READERSUM_EVER	UINT64_MAX  /* 'instant' is not used, or 'till' has no end */

/*
** Initializes the totals. 'bins': largest number of slices of time in s->bins and s->gone, at most
** BINS_MOST; 0: all tables of slices (Bins) stay empty. 'instant': value of ReaderSum.instant.
** Returns 0 if there is not enough memory; readersum_free must be called in either case.
*/
int readersum_start (ReaderSum *s, uint32_t bins, uint64_t instant);
/*
** Completes the totals after reader_read has returned r: multiplies the bytes of 'table', 'times'
** and all tables of slices (Bins), and the widths of slices in bytes, by r->scale, and sets 'left'.
** No event may follow.
*/
void readersum_finish (ReaderSum *s, const ReadProfile *r);
void readersum_free (ReaderSum *s);

#endif
