/* SPDX-License-Identifier: MIT */
/*
** How much is kept at most, by the writer and by whoever reads; and how large
** tables are at first. What a limit leaves out is counted and told: readerleft.h
** has the sentences, doc/profile-format.md the table. Beside each number stands
** that of a build with ASAMP_TINY, in which every limit is met, and every table
** grows, within a few records (spec/fuzz/build).
*/
#ifndef asamp_bounds_h
#define asamp_bounds_h

#if defined(ASAMP_TINY)
#define BOUND(n,tiny)	(tiny)
#define BOUND_FIRST(n)	4  /* a power of 2 */
#else
#define BOUND(n,tiny)	(n)
#define BOUND_FIRST(n)	(n)
#endif

/*
** A list of fewer bytes moves at each element that is put into it, so that whoever
** keeps a pointer into one is found out by the next run of a sanitizer.
*/
#if defined(ASAMP_TINY) || defined(LUAN_DEBUG)
#define BOUND_MOVES	4096
#else
#define BOUND_MOVES	0
#endif

/* The writer. */
#define FUNCTIONS_CHUNKS	BOUND(1u << 12, 8)   /* of chunks that are no files */
#define FUNCTIONS_MOST		BOUND(1u << 16, 16)  /* all */
#define CLASSES_MAX		BOUND(65535u, 8)     /* the last one is for the rest */
#define READER_MAXPATHS		BOUND(1u << 16, 12)  /* by which things are held; of whoever reads, too */
#define READER_MAXSTEPS		BOUND(64u, 4)        /* of one of them */
#define LABELS_NAMES		BOUND(64u, 3)        /* names of labels */
#define LABELS_VALUES		BOUND(4096u, 6)      /* of one of these, the rest is the first */
#define LABELS_SETS		BOUND(1u << 14, 16)  /* of labels */
#define ENCODER_MAXNATIVES	BOUND(1u << 20, 12)  /* addresses with a name */

#define FOLLOWED_MOST		BOUND(1u << 17, 1u << 17)  /* samples that live on, of a state (followed.h) */

#define SEEN_NAMES		BOUND(64u, 4)        /* of states, for who asks; the last one is for the rest */

/* A flight recorder: what is kept of before its begin, in bytes. */
#define PAST_STACKS		BOUND(8u << 20, 4096)  /* stacks of what is alive */
#define PAST_TEXTS		BOUND(8u << 20, 400)   /* names */
#define RING_NATIVES		BOUND(1u << 16, 12)    /* addresses with a name */

/* The reader. */
#define READER_MAXDEPTH		BOUND(65536u, 256)    /* words of a record */
#define READER_MAXNAME		BOUND(4096u, 40)      /* bytes of a name */
#define READER_MAXNAMES		BOUND(64u << 20, 400) /* bytes of all names */
#define READER_MAXIDS		BOUND(1u << 20, 12)   /* names, types, classes */
#define READER_MAXALIASES	BOUND(1u << 24, 24)   /* functions with another's name */
#define READER_MAXNAMELESS	BOUND(1u << 16, 4)    /* functions without a name */
#define READER_MAXMETA		BOUND(4u << 20, 4096) /* bytes of a meta's value */
#define READER_MAXKINDS		BOUND(1u << 16, 8)    /* types with their classes */
#define READER_MAXRUNS		BOUND(1u << 18, 24)   /* stacks before their details */
#define READER_MAXCOUNT		((uint64_t)1 << 40)    /* of one sample */
#define TREE_MAXNODES		BOUND(2u << 20, 60)
#define FIFO_MOST		BOUND(2u << 20, 16)   /* samples without a fate */
#define READERFOLLOW_MOST	BOUND(1u << 20, 12)   /* samples that live on, of a state */
#define READER_MAXSTATES	BOUND(1u << 16, 4)    /* Lua states with a row */
#define READER_MAXSTREAMS	BOUND(1u << 14, 4)    /* ... that are there at a time */
#define READER_MAXTHREADS	BOUND(1u << 12, 4)    /* OS threads */
#define READER_MAXLABELSETS	BOUND(1u << 16, 6)    /* sets of labels, ... */
#define READER_MAXLABELS	BOUND(1u << 21, 12)   /* ... and labels in all of these, 32 each */

/* Sums. */
#define SITETABLE_MAXSITES		BOUND(1u << 20, 40)
#define BINS_MAXROWS		BOUND(1u << 20, 60)
#define COURSE_MOST		BOUND(1u << 13, 8)    /* collections of a timeline, even */
#define MARKS_MOST		BOUND(1u << 13, 8)    /* marks of a timeline, even */
#define MARKS_NAMES		BOUND(1u << 12, 4)    /* names of marks */
#define TAGS_STATES		BOUND(64u, 3)         /* Lua states, or scripts, told apart for other tools */
#define TAGS_MOST		BOUND(1u << 17, 12)   /* of these with threads and labels */
#define AGES_OPEN		BOUND(1u << 20, 64)   /* samples that one collection decides */
#define PICTURES_MOST		BOUND(1u << 9, 4)     /* of where memory is */
#define PICTURES_ROWS		BOUND(1u << 10, 8)    /* of one of them */
#define PICTURES_TEXTS		BOUND(1u << 20, 200)  /* bytes of what rows are called */

#endif
