/* SPDX-License-Identifier: MIT */
/*
** The totals of a profile: a client of the reader that adds up its events. All its tables are
** limited (bounds.h); 'left' counts the data beyond the limits. Independent of Lua and files.
**
** Order of calls: readersum_start; the caller sets fields (client.only and similar, tags, since,
** till); reader_read with &client; readersum_finish; readersum_free. A time sample is added at
** once, an allocation sample when it is decided or delivered as undecided. Samples are counted in
** periods.
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

/* Totals of a kind over its allocation samples. */
typedef struct KindTotals {
  uint64_t blocks;     /* number of samples, each of which is one block */
  double objects;      /* estimated number of allocated blocks: a sample of count c at period p of
		          a block of s bytes represents c * p / s; of unknown size 0 */
  uint64_t outside;    /* number of samples allocated outside the nursery */
} KindTotals;

/* Totals of a label set. Bytes are not multiplied by the ReadProfile's 'scale'. */
typedef struct LabelTotals {
  /* Allocation samples as in a Site; time samples in periods, and the ns they represent. */
  uint64_t samples, bytes, survivedbytes, laterbytes, undecidedbytes, timesamples, ns;
  /* Numbers of collections while a thread with this set ran, and us of their pauses; exact bytes
     allocated with this set. */
  uint64_t minors, majors, pause, exact;
} LabelTotals;

#define READERSUM_WALKS	BOUND(64u, 4u)  /* largest number of walks that are kept */

typedef struct ReaderSum {
  ReaderClient client; /* to be passed to reader_read */
  SiteTable table;        /* all samples, by node and kind */
  /* The comments of lives, times, held and copies list the values in Site.node and Site.kind. */
  SiteTable lives;        /* samples that died later: node, and number of binary digits of
			     ReadDeath.allocated */
  SiteTable times;        /* samples known to have died: kind, and number of binary digits of their
			     life in us */
  Ages ages;              /* survival by age */
  const ReadProfile *profile;  /* set by the callback 'head'; NULL before */
  SiteTable held;        /* live followed samples: node, and path (0: unknown) */
  SiteTable copies;      /* copy samples: node, and ReadSample.kind; empty with 'instant' */
  KindTotals *kinds;   /* READER_MAXKINDS elements */
  LabelTotals *labels;  /* by label set; labels[0]: without labels */
  size_t nlabels, labelsize;  /* number of elements, capacity */
  int exactlabels;     /* 1: LabelTotals.exact is known: its sum over all sets is
		          ReadProfile.allocated, but it is 0 for sets that are not wanted */
  uint64_t labelled;   /* sum of the exact bytes of the callback 'labelled' */
  Tags *tags;          /* sites of 'table' are also distinguished by these; NULL: they are not */
  Course course;       /* collections */
  Marks marks;
  Pictures pictures;   /* snapshots of resident memory */
  ReadWalk walks[READERSUM_WALKS];  /* the first walk and every 'walkstep'-th after it */
  size_t nwalks;       /* number of elements */
  uint64_t walkstep, walkcount;  /* 'walkcount': number of walks so far */
  Bins bins;           /* all samples, by the slice of time in which they were taken */
  Bins gone;           /* samples that died later, by the slice of time in which they were found
		          dead: only samples and bytes. The slices may be wider or narrower than
		          those of 'bins' by a power of 2 */
  /* The next three are empty if 'bins' is disabled. 'born' and 'alive' have slices of bytes: of
     ReadSample.born. */
  Bins born;           /* decided samples */
  Bins alive;          /* live followed samples, except native memory: the kind is twice the path
		          (0: unknown, or the last walk did not reach the sample), plus 1 for an
		          array part or hash part of a table */
  Bins worked;         /* time samples, by slices of time; node and kind are 0 */
  uint64_t since;      /* us: samples taken earlier do not count */
  uint64_t till;       /* us: samples taken at or after this time do not count */
  /* READERSUM_EVER, or a time in us since the start: only allocation samples that were alive then
     count, as far as collections have found out. All Bins stay empty. */
  uint64_t instant;
  uint64_t left[LEFT_N];  /* counts of dropped data, of the ReadProfile and of the totals; set by
			     readersum_finish */
} ReaderSum;

#define READERSUM_PARTS	64u	/* largest number of slices of 'born' and 'alive' */
#define READERSUM_FINE	256u	/* largest number of slices of 'worked' */

#define READERSUM_EVER	UINT64_MAX  /* of 'instant': not used; of 'till': no end */

/*
** Initializes the totals, with at most 'bins' slices in 'bins' and 'gone' (0: all Bins are
** disabled), at most BINS_MOST. 'instant' is the field. Returns 0 if there is not enough memory;
** readersum_free must be called in either case.
*/
int readersum_start (ReaderSum *s, uint32_t bins, uint64_t instant);
/*
** Completes the totals after reader_read has returned r: multiplies the bytes of 'table' and of all
** Bins by 'scale', and sets 'left'. No event may follow.
*/
void readersum_finish (ReaderSum *s, const ReadProfile *r);
void readersum_free (ReaderSum *s);

#endif
