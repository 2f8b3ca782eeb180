/* SPDX-License-Identifier: MIT */
/*
** The optional mechanisms of the core. Without one of them a program gives the same results, but
** takes more time or memory, or has longer pauses. bench/ablate reads this list, and builds the
** core without one (-DLUAN_WITHOUT=NAME) to measure its effect. The comment after a name has three
** parts:
** - "files:": source files that only this mechanism needs, or functions of a file after a colon
** - "invariants:": invariants of gc.h that only this mechanism needs
** - "benchmarks:": programs of bench/ablate.lua or bench/load that are slower, or need more memory,
**   without this mechanism
**
** For example, LUAN_AGEING is the files mark/ageing.c and mark/ageing.h and invariant G10, and the
** programs edited, messages and handles are slower without it.
*/
#ifndef luaN_optional_h
#define luaN_optional_h

enum {
  LUAN_NOTHING,
  /* Minor collections leave some live objects young for longer: long strings, large userdata, and
     small userdata with finalizers (ageing.h). */
  LUAN_AGEING,		/* files: mark/ageing.c mark/ageing.h |
			   invariants: G10 | benchmarks: edited messages handles */
  /* Userdata that die young stay young until their finalizer has run. */
  LUAN_PENDINGUDATA,	/* files: sweep/waiting.c sweep/waiting.h |
			   invariants: G11 | benchmarks: cursors handles */
  /* A limited number of bytes of long strings and large userdata may be allocated in addition to
     the nursery. */
  LUAN_TEXTROOM,	/* files: pace/pace.c:textroom |
			   invariants: none | benchmarks: text_queue messages */
  /* The largest size of a nursery is doubled if half of a nursery has survived. */
  LUAN_WIDENURSERY,	/* files: pace/pace.c:luaN_outlived |
			   invariants: none | benchmarks: ring queue live_heap */
  /* Small tables are marked recursively, without a mark stack. */
  LUAN_EAGERTABLES,	/* files: mark/mark.c:mark_settle,mark_ends,endsall |
			   invariants: none | benchmarks: full_collections */
  /* The write barrier of a huge table (at least 4,096 slots) remembers the slot without reading the
     stored object. */
  LUAN_SLOTMARKING,	/* files: remset/barrier.c:isstoredagain |
			   invariants: none | benchmarks: permute */
  /* Safepoints before a minor collection traverse large remembered tables in slices. Otherwise the
     minor collection traverses them in one pause. */
  LUAN_TABLESLICES,	/* files: remset/refine.c:luaN_refinetables |
			   invariants: none | benchmarks: swapped */
  /* Slices of a major collection visit weak tables before the atomic step (ahead.h). */
  LUAN_WEAKSLICES,	/* files: mark/ahead.c mark/ahead.h |
			   invariants: G9 | benchmarks: dead_values weak_keys */
  /* Slices tombstone weak values that may be dead: the slots look empty to the program, so the
     atomic step need not visit them (hidden.h). */
  LUAN_TOMBSTONES,	/* files: mark/hidden.c mark/hidden.h |
			   invariants: G13 | benchmarks: dead_values */
  /* Keys of a large hash part are copied in advance to its next, larger vector (growth.h). */
  LUAN_GROWTHAHEAD,	/* files: alloc/growth.c alloc/growth.h vm/growing.c vm/growing.h |
			   invariants: GA1-GA3 | benchmarks: new_keys */
  /* A hash part that keeps its size is rehashed in place. */
  LUAN_INPLACE		/* files: vm/inplace.c vm/inplace.h |
			   invariants: none | benchmarks: replaced_keys weak_keys */
};

#if !defined(LUAN_WITHOUT)
#define LUAN_WITHOUT	LUAN_NOTHING
#endif

/* 1 if this build has the mechanism. */
#define luaN_has(mechanism)	(LUAN_WITHOUT != (mechanism))

#endif
