/* SPDX-License-Identifier: MIT */
/*
** The totals of a profile: a client of the reader that adds up its events. Memory grows only
** with the number of sites, up to a limit. Independent of Lua and files.
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

/* Totals of a kind over the sampled blocks (only with details). */
typedef struct KindTotals {
  uint64_t blocks;
  double objects;      /* estimated number of blocks: a sample of count c at period p of a
		          block of s bytes represents c * p / s */
  uint64_t outside;    /* number of sampled blocks allocated outside the nursery */
} KindTotals;

/*
** Totals of a label set: sums of samples, as in a Site; number of collections during threads
** with that set, and their pauses in us; the exact bytes allocated with that set.
*/
typedef struct LabelTotals {
  uint64_t samples, bytes, survivedbytes, laterbytes, undecidedbytes, timesamples, ns;
  uint64_t minors, majors, pause, exact;
} LabelTotals;

#define READERSUM_WALKS	BOUND(64u, 4u)

typedef struct ReaderSum {
  ReaderClient client; /* to be passed to reader_read */
  SiteTable table;
  SiteTable lives;        /* samples that died later: node, and number of binary digits of the
			     bytes allocated during their life */
  SiteTable times;        /* samples known to have died: kind instead of node, and number of
			     binary digits of their life in us */
  Ages ages;              /* survival by age */
  const ReadProfile *profile;
  SiteTable held;        /* live samples with a known holder: node, and path */
  SiteTable copies;      /* node, and sort of copy; empty with 'instant' */
  KindTotals *kinds;   /* READER_MAXKINDS elements */
  LabelTotals *labels;  /* by set; 0: samples without labels */
  size_t nlabels, labelsize;
  int exactlabels;     /* 1: 'exact' of the sets adds up to 'allocated' of the ReadProfile */
  uint64_t labelled;   /* sum of the exact bytes that the file has for label sets */
  Tags *tags;          /* sites are also distinguished by these; NULL: not */
  Course course;       /* collections */
  Marks marks;
  Pictures pictures;   /* of resident memory */
  ReadWalk walks[READERSUM_WALKS];  /* the first and every 'walkstep'-th after it */
  size_t nwalks;
  uint64_t walkstep, walkcount;
  Bins bins;
  Bins gone;           /* samples that died later, by the slice in which they were found dead:
		          samples and bytes. The slices may be wider or narrower than those of
		          'bins' by a power of 2 */
  /* The next three are sliced finer; they are empty if 'bins' is disabled. 'born' and 'alive' have
     slices of bytes (field 'born' of ReadSample) instead of us. */
  Bins born;           /* all decided samples */
  Bins alive;          /* samples that the walk at the end reached, or may not have reached: the
		          kind is twice the path (0: unknown), plus 1 for a part of a table */
  Bins worked;         /* samples of time; node and kind are 0 */
  /* READERSUM_EVER, or a time in us since the start: only samples alive at that time count,
     as far as collections have found out; no time samples. Bins stay empty. */
  uint64_t since;      /* us: earlier samples do not count */
  uint64_t till;       /* us: samples at or after this time do not count */
  uint64_t instant;
  uint64_t left[LEFT_N];  /* counts of dropped data: of the ReadProfile, and of the totals */
} ReaderSum;

#define READERSUM_PARTS	64u	/* slices of 'born' and 'alive' */
#define READERSUM_FINE	256u	/* slices of 'worked' */

#define READERSUM_EVER	UINT64_MAX

/*
** Initializes the totals with 'bins' slices (0: none), at most BINS_MOST. Returns 0 if there is
** not enough memory; readersum_free must be called in either case.
*/
int readersum_start (ReaderSum *s, uint32_t bins, uint64_t instant);
/* Completes the totals after reader_read. */
void readersum_finish (ReaderSum *s, const ReadProfile *r);
void readersum_free (ReaderSum *s);

#endif
