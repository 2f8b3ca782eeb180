/* SPDX-License-Identifier: MIT */
/*
** Limits of the data that the writer and the reader keep, and initial sizes of tables. Data
** beyond a limit are dropped, counted and reported: readerleft.h has the messages,
** doc/profile-format.md the table. Next to each number is that of a build with ASAMP_TINY, in
** which every limit is reached, and every table grows, within a few records (spec/fuzz/build).
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
** Size in bytes below which a list is moved by each insertion, so that a sanitizer run detects
** pointers kept into it.
*/
#if defined(ASAMP_TINY) || defined(LUAN_DEBUG)
#define BOUND_MOVES	4096
#else
#define BOUND_MOVES	0
#endif

/* Limits of the writer. */
#define FUNCTIONS_CHUNKS	BOUND(1u << 12, 8)   /* functions of chunks that are not files */
#define FUNCTIONS_MOST		BOUND(1u << 16, 16)  /* functions */
#define CLASSES_MAX		BOUND(65535u, 8)     /* classes; the last one represents all
						        others */
#define READER_MAXPATHS		BOUND(1u << 16, 12)  /* paths of holders; also of the reader */
#define READER_MAXSTEPS		BOUND(64u, 4)        /* steps of a path */
#define LABELS_NAMES		BOUND(64u, 3)        /* names of labels */
#define LABELS_VALUES		BOUND(4096u, 6)      /* values of one label name; the first
						        one represents all others */
#define LABELS_SETS		BOUND(1u << 14, 16)  /* sets of labels */
#define ENCODER_MAXNATIVES	BOUND(1u << 20, 12)  /* native addresses with a name */

/* followed samples of a state (followed.h) */
#define FOLLOWED_MOST		BOUND(1u << 17, 1u << 17)

/* names in the statistics by name of state; the last entry counts all further names */
#define SEEN_NAMES		BOUND(64u, 4)

/* Limits of a flight recorder for data from before the part that it keeps, in bytes. */
#define PAST_STACKS		BOUND(8u << 20, 4096)  /* bytes of stacks of live samples */
#define PAST_TEXTS		BOUND(8u << 20, 400)   /* bytes of names */
#define RING_NATIVES		BOUND(1u << 16, 12)    /* native addresses with a name */

/* Limits of the reader. */
#define READER_MAXDEPTH		BOUND(65536u, 256)    /* words of a record */
#define READER_MAXNAME		BOUND(4096u, 40)      /* bytes of a name */
#define READER_MAXNAMES		BOUND(64u << 20, 400) /* bytes of all names */
#define READER_MAXIDS		BOUND(1u << 20, 12)   /* names, types and classes */
#define READER_MAXALIASES	BOUND(1u << 24, 24)   /* functions that share another's name */
#define READER_MAXNAMELESS	BOUND(1u << 16, 4)    /* functions without a name */
#define READER_MAXMETA		BOUND(4u << 20, 4096) /* bytes of the value of a meta */
#define READER_MAXKINDS		BOUND(1u << 16, 8)    /* pairs of type and class */
#define READER_MAXRUNS		BOUND(1u << 18, 24)   /* stacks whose details have not been read */
#define READER_MAXCOUNT		((uint64_t)1 << 40)    /* periods of one sample */
#define TREE_MAXNODES		BOUND(2u << 20, 60)
#define FIFO_MOST		BOUND(2u << 20, 16)   /* undecided samples */
#define READERFOLLOW_MOST	BOUND(1u << 20, 12)   /* followed samples of a state */
#define READER_MAXSTATES	BOUND(1u << 16, 4)    /* Lua states with a row */
#define READER_MAXSTREAMS	BOUND(1u << 14, 4)    /* Lua states open at a time */
#define READER_MAXTHREADS	BOUND(1u << 12, 4)    /* OS threads */
#define READER_MAXLABELSETS	BOUND(1u << 16, 6)    /* sets of labels */
#define READER_MAXLABELS	BOUND(1u << 21, 12)   /* labels of all sets; 32 per set */

/* Limits of the totals. */
#define SITETABLE_MAXSITES		BOUND(1u << 20, 40)
#define BINS_MAXROWS		BOUND(1u << 20, 60)
#define COURSE_MOST		BOUND(1u << 13, 8)    /* collections of a timeline, even */
#define MARKS_MOST		BOUND(1u << 13, 8)    /* marks of a timeline, even */
#define MARKS_NAMES		BOUND(1u << 12, 4)    /* names of marks */
#define TAGS_STATES		BOUND(64u, 3)         /* Lua states, or scripts, distinguished
						         for other tools */
#define TAGS_MOST		BOUND(1u << 17, 12)   /* combinations of these with threads
						         and labels */
#define AGES_OPEN		BOUND(1u << 20, 64)   /* samples that one collection decides */
#define PICTURES_MOST		BOUND(1u << 9, 4)     /* pictures of resident memory */
#define PICTURES_ROWS		BOUND(1u << 10, 8)    /* rows of one picture */
#define PICTURES_TEXTS		BOUND(1u << 20, 200)  /* bytes of the names in pictures */

#endif
