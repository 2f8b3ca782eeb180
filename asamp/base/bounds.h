/* SPDX-License-Identifier: MIT */
/*
** The folder base has the tools that all other folders of asamp/ share: tables, buffers, clocks,
** descriptors, text for people. Its files use no other folder and do not call Lua. A table or
** buffer is a struct of the caller, all zero or initialized before its first use, and is used by
** one thread at a time. Process-wide data: the hash keys (hash.h), the counter of own memory
** (own.h), the reserved descriptors (descriptor.h), each thread's reserve (spare.h).
**
** This file: limits of the data that the writer and the reader keep, and initial sizes of tables.
** Data beyond a limit are left out or merged; the losses of most limits are counted (messages in
** readerleft.h, table in doc/profile-format.md). The second number of BOUND is for builds with
** ASAMP_TINY, in which almost every limit is reached, and every table grows, within a few records
** (spec/fuzz/build).
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

/* For sanitizers: up to this capacity in bytes, a list or string table moves at each request for
   capacity (list.h), so that pointers kept into it are detected. 0: lists move only when they
   grow. */
#if defined(ASAMP_TINY) || defined(LUAN_DEBUG)
#define BOUND_MOVES	4096
#else
#define BOUND_MOVES	0
#endif

/* Limits of the writer. Each is the largest number of the things that its comment names. */
#define FUNCTIONS_CHUNKS	BOUND(1u << 12, 8)   /* functions in chunks that were not loaded
							from files */
#define FUNCTIONS_MOST		BOUND(1u << 16, 16)  /* functions; the last one represents all
						        others */
#define CLASSES_MAX		BOUND(65535u, 8)     /* classes (names of metatables); the last one
							represents all others */
/* paths of references from a root to sampled objects, in the writer and in the reader */
#define READER_MAXPATHS		BOUND(1u << 16, 12)
#define READER_MAXSTEPS		BOUND(64u, 4)        /* steps (references) of a path from a root to
							a sampled object */
#define LABELS_NAMES		BOUND(64u, 3)        /* names of labels of coroutines */
#define LABELS_VALUES		BOUND(4096u, 6)      /* values of one label name; the first is
							"(others)", for all further ones */
#define LABELS_SETS		BOUND(1u << 14, 16)  /* distinct sets of labels */
#define ENCODER_MAXNATIVES	BOUND(1u << 20, 12)  /* native addresses with a name */

/* Survivors of one Lua state whose death the sampler waits for (followed.h). */
#define FOLLOWED_MOST		BOUND(1u << 17, 1u << 17)

/* Names of states that have totals of their own (seen.h); the last name represents all others. */
#define SEEN_NAMES		BOUND(64u, 4)

/* Limits of a flight recorder (past.h, ring.h). */
/* bytes of the stacks of live samples that were taken before the part of the run that is kept */
#define PAST_STACKS		BOUND(8u << 20, 4096)
#define PAST_TEXTS		BOUND(8u << 20, 400)   /* bytes of names in past.c, and of names of
						          native addresses in ring.c */
#define RING_NATIVES		BOUND(1u << 16, 12)    /* native addresses with a name */

/* Limits of the reader. */
#define READER_MAXDEPTH		BOUND(65536u, 256)    /* words of a record; a record with more words
							 counts as damage */
#define READER_MAXNAME		BOUND(4096u, 40)      /* bytes of a name */
#define READER_MAXNAMES		BOUND(64u << 20, 400) /* bytes of all names */
/* entries of a map from ids to names; frames, types and classes have one map each */
#define READER_MAXIDS		BOUND(1u << 20, 12)
#define READER_MAXALIASES	BOUND(1u << 24, 24)   /* functions with the name of another one */
#define READER_MAXNAMELESS	BOUND(1u << 16, 4)    /* functions without a name that are
							 distinguished */
#define READER_MAXMETA		BOUND(4u << 20, 4096) /* bytes of the value of a meta record (a key
							 and a value), with a NUL */
#define READER_MAXKINDS		BOUND(1u << 16, 8)    /* pairs of a block's type and its object's
							 class */
/* runs of equal stacks for which the size, type and outcome of the sample were not read yet */
#define READER_MAXRUNS		BOUND(1u << 18, 24)
#define READER_MAXCOUNT		((uint64_t)1 << 40)    /* sampling periods that one sample
							  represents */
#define TREE_MAXNODES		BOUND(2u << 20, 60)   /* nodes of the call tree */
#define FIFO_MOST		BOUND(2u << 20, 16)   /* samples of a state whose survival outcome
							 was not read yet */
#define READERFOLLOW_MOST	BOUND(1u << 20, 12)   /* survivors of a state whose later death the
							 reader expects */
#define READER_MAXSTATES	BOUND(1u << 16, 4)    /* rows for Lua states in ReadProfile.states;
							 further states share the last row */
#define READER_MAXSTREAMS	BOUND(1u << 14, 4)    /* Lua states open at a time */
#define READER_MAXTHREADS	BOUND(1u << 12, 4)    /* OS threads */
#define READER_MAXLABELSETS	BOUND(1u << 16, 6)    /* distinct sets of labels in a profile */
#define READER_MAXLABELS	BOUND(1u << 21, 12)   /* labels of all sets; 32 per set */

/* Limits of the totals. */
#define SITETABLE_MAXSITES		BOUND(1u << 20, 40)   /* rows of a table of totals, each for
								 one stack and one type of block */
/* rows of a table of totals by slice: each row is for one stack and one type of block in one slice
   of time or of allocated bytes (bins.h) */
#define BINS_MAXROWS		BOUND(1u << 20, 60)
#define COURSE_MOST		BOUND(1u << 13, 8)    /* spans (groups of consecutive collections)
							 of a timeline (course.h); even */
#define MARKS_MOST		BOUND(1u << 13, 8)    /* marks (named events of the program) kept
							 for a timeline; even */
#define MARKS_NAMES		BOUND(1u << 12, 4)    /* names of marks; the last name represents
							 all others */
#define TAGS_STATES		BOUND(64u, 3)         /* Lua states, or scripts of states, that
							 files for other tools distinguish */
#define TAGS_MOST		BOUND(1u << 17, 12)   /* combinations of a state (or script), an OS
							 thread and a set of labels */
#define AGES_OPEN		BOUND(1u << 20, 64)   /* samples whose survival one collection
							 decides */
#define PICTURES_MOST		BOUND(1u << 9, 4)     /* snapshots of resident memory */
/* rows of one snapshot of resident memory */
#define PICTURES_ROWS		BOUND(1u << 10, 8)
#define PICTURES_TEXTS		BOUND(1u << 20, 200)  /* bytes of the texts of the rows of all
							 snapshots of resident memory */

#endif
