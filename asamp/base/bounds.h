/* SPDX-License-Identifier: MIT */
/*
** Limits of the data that the writer and the reader of profiles keep in memory, and initial sizes
** of tables. Data beyond a limit are left out or merged; most losses are counted (readerleft.h,
** doc/profile-format.md). The second argument of BOUND is the limit in test builds with ASAMP_TINY,
** where a few records reach it (spec/fuzz/build).
**
** The folder base has the tools that all other folders share: tables, buffers, clocks, descriptors,
** text. Its files use no other folder and do not call Lua. The caller owns the struct of a table or
** buffer, zeroes or initializes it first, and uses it on one thread at a time.
*/
#ifndef asamp_bounds_h
#define asamp_bounds_h

#if defined(ASAMP_TINY)
#define BOUND(n,tiny)	(tiny)
#define BOUND_FIRST(n)	4  /* initial number of elements of a table; a power of 2 */
#else
#define BOUND(n,tiny)	(n)
#define BOUND_FIRST(n)	(n)
#endif

/* For builds with sanitizers: a list of up to this number of bytes moves at each call that reserves
   capacity (list.h), so that the use of an old address is detected. 0: lists move only when they
   grow. */
#if defined(ASAMP_TINY) || defined(LUAN_DEBUG)
#define BOUND_MOVES	4096
#else
#define BOUND_MOVES	0
#endif

/* Limits of the writer. Each constant is the largest number of the data in its comment. */
#define FUNCTIONS_CHUNKS	BOUND(1u << 12, 8)   /* functions of Lua chunks that were not loaded
                                                        from files; all further ones share one
                                                        source */
#define FUNCTIONS_MOST		BOUND(1u << 16, 16)  /* functions; all further ones share the last
                                                        number */
#define CLASSES_MAX		BOUND(65535u, 8)     /* classes (names of metatables); all further
                                                        ones share the last number */
/* paths of references to sampled objects, in the writer and in the reader */
#define READER_MAXPATHS		BOUND(1u << 16, 12)
#define READER_MAXSTEPS		BOUND(64u, 4)        /* references of one path */
#define LABELS_NAMES		BOUND(64u, 3)        /* names of coroutine labels */
#define LABELS_VALUES		BOUND(4096u, 6)      /* values of a label name; all further ones
                                                        become the first value, "(others)" */
#define LABELS_SETS		BOUND(1u << 14, 16)  /* label sets with any values (labels.h) */
/* addresses in native code for which a profile has function names */
#define ENCODER_MAXNATIVES	BOUND(1u << 20, 12)

/* Live samples of one Lua state that have survived their first collection (followed.h). */
#define FOLLOWED_MOST		BOUND(1u << 17, 1u << 17)

/* Names of Lua states for which totals are kept (seen.h); all further names share the last
   entry. */
#define SEEN_NAMES		BOUND(64u, 4)

/* Limits of a flight recorder, which keeps only the newest events. */
/* Bytes of the stacks of live samples whose events the recorder has dropped (past.h). */
#define PAST_STACKS		BOUND(8u << 20, 4096)
/* Bytes of the names whose events the recorder has dropped (past.h). The same limit applies to the
   bytes of the names of native functions (ring.h). */
#define PAST_TEXTS		BOUND(8u << 20, 400)
#define RING_NATIVES		BOUND(1u << 16, 12)    /* addresses in native code whose function
                                                          names are stored */

/* Limits of the reader. */
#define READER_MAXDEPTH		BOUND(65536u, 256)    /* words of a recorded stack. A file with
                                                         a longer stack counts as damaged. */
#define READER_MAXNAME		BOUND(4096u, 40)      /* bytes of a name */
/* Bytes of all names of a profile. The same limit applies to the texts of all paths to live objects
   (readerholders.c). */
#define READER_MAXNAMES		BOUND(64u << 20, 400)
/* entries of each map from a profile's ids to names */
#define READER_MAXIDS		BOUND(1u << 20, 12)
/* function ids whose name an earlier id already has (aliases.h) */
#define READER_MAXALIASES	BOUND(1u << 24, 24)
/* functions without a name; further ones are shown as one function */
#define READER_MAXNAMELESS	BOUND(1u << 16, 4)
/* bytes of a value in the profile's metadata, with a NUL */
#define READER_MAXMETA		BOUND(4u << 20, 4096)
/* kinds of allocated blocks; a kind is a type and a class */
#define READER_MAXKINDS		BOUND(1u << 16, 8)
/* runs of samples with equal stacks; a run is queued until the sizes and types of its samples are
   read */
#define READER_MAXRUNS		BOUND(1u << 18, 24)
#define READER_MAXCOUNT		((uint64_t)1 << 40)    /* sampling periods that one sample
							  represents */
#define TREE_MAXNODES		BOUND(1u << 17, 60)   /* nodes of the call tree */
/* Largest number of allocation samples of one Lua state in the reader's queue. The queue has the
   samples for which the file has not yet reported whether their objects survived a collection. */
#define FIFO_MOST		BOUND(2u << 20, 16)
/* Live samples of one Lua state that have survived their first collection (readerfollow.h). */
#define READERFOLLOW_MOST	BOUND(1u << 20, 12)
#define READER_MAXSTATES	BOUND(1u << 16, 4)    /* Lua states in a report; all further ones
                                                         share the last entry */
#define READER_MAXSTREAMS	BOUND(1u << 14, 4)    /* Lua states that exist at the same time */
#define READER_MAXTHREADS	BOUND(1u << 12, 4)    /* OS threads */
#define READER_MAXLABELSETS	BOUND(1u << 16, 6)    /* label sets of a profile */
#define READER_MAXLABELS	BOUND(1u << 21, 12)   /* labels of all label sets of a profile
                                                         together */

/* Limits of the totals. */
/* sites in one table of totals; a site is a stack, a kind of block, and a tag (sitetable.h) */
#define SITETABLE_MAXSITES		BOUND(1u << 18, 40)
/* rows of a report's table by time or by allocated bytes (bins.h) */
#define BINS_MAXROWS		BOUND(1u << 18, 60)
/* Groups of consecutive collections in the timeline. At the limit, each pair of neighbouring groups
   is merged, so the limit is even. */
#define COURSE_MOST		BOUND(1u << 13, 8)
/* Marks of the program in the timeline. At the limit, every other mark is dropped, so the limit is
   even. */
#define MARKS_MOST		BOUND(1u << 13, 8)
#define MARKS_NAMES		BOUND(1u << 12, 4)    /* names of marks; all further ones share the
                                                         last entry */
/* Lua states, or scripts of Lua states, that files for other tools show separately (tags.h) */
#define TAGS_STATES		BOUND(64u, 3)
/* combinations of Lua state, OS thread and labels in files for other tools */
#define TAGS_MOST		BOUND(1u << 17, 12)
/* Samples between two collections. If there are as many or more, survival by age ignores all of
   them (ages.h). */
#define AGES_OPEN		BOUND(1u << 20, 64)
#define PICTURES_MOST		BOUND(1u << 9, 4)     /* snapshots of resident memory */
/* rows of one snapshot of resident memory */
#define PICTURES_ROWS		BOUND(1u << 10, 8)
/* sum of the bytes of the names in the rows of all snapshots of resident memory */
#define PICTURES_TEXTS		BOUND(1u << 20, 200)

#endif
