/* SPDX-License-Identifier: MIT */
/*
** The optional mechanisms of the core. Without one of them a program gives the same results, but
** takes more time or memory, or has longer pauses. bench/ablate reads the list below and, to
** measure a mechanism, builds the core without it (-DLUAN_WITHOUT=NAME). The comment after a name
** has
**   files       of lua/gc or lua that serve only this mechanism; file:function,function if only
**               these functions of the file do
**   invariants  that the mechanism depends on; -: none
**   loads       of bench/ablate.lua or bench/load that show its effect
*/
#ifndef luaN_optional_h
#define luaN_optional_h

enum {
  LUAN_NOTHING,
  /* Large leaf objects, and small userdata with finalizers, stay young longer. */
  LUAN_AGEING,		/* files: mark/ageing.c mark/ageing.h |
			   invariants: G10 | loads: edited messages handles */
  /* Userdata that die young stay young until their finalizer has run. */
  LUAN_PENDINGUDATA,	/* files: sweep/waiting.c sweep/waiting.h |
			   invariants: G11 | loads: cursors handles */
  /* Large leaf objects may be allocated in addition to the nursery. */
  LUAN_TEXTROOM,	/* files: pace/pace.c:textroom |
			   invariants: - | loads: text_queue messages */
  /* The nursery is doubled if half of it has survived a minor collection. */
  LUAN_WIDENURSERY,	/* files: pace/pace.c:luaN_outlived |
			   invariants: - | loads: ring queue live_heap */
  /* Small tables are marked together with their contents, without a mark stack. */
  LUAN_EAGERTABLES,	/* files: mark/mark.c:mark_settle,mark_ends,endsall |
			   invariants: - | loads: full_collections */
  /* Barriers of huge tables do not read the stored object (LUAN_VAST of gc.h). */
  LUAN_SLOTMARKING,	/* files: remset/barrier.c:isstoredagain | invariants: - | loads: permute */
  /* Safepoints traverse large remembered tables in slices. */
  LUAN_TABLESLICES,	/* files: remset/refine.c:luaN_refinetables |
			   invariants: - | loads: swapped */
  /* Slices visit weak tables before the atomic step. */
  LUAN_WEAKSLICES,	/* files: mark/ahead.c mark/ahead.h |
			   invariants: G9 | loads: dead_values weak_keys */
  /* Slices tombstone weak values that may be dead, so that the atomic step need not visit them. */
  LUAN_TOMBSTONES,	/* files: mark/hidden.c mark/hidden.h |
			   invariants: G13 | loads: dead_values */
  /* Large hash parts grow by growth buffers, over many insertions. */
  LUAN_GROWTHAHEAD,	/* files: alloc/growth.c alloc/growth.h vm/growing.c vm/growing.h |
			   invariants: GA1-GA3 | loads: new_keys */
  /* A hash part that keeps its size is rehashed in place. */
  LUAN_INPLACE		/* files: vm/inplace.c vm/inplace.h |
			   invariants: - | loads: replaced_keys weak_keys */
};

#if !defined(LUAN_WITHOUT)
#define LUAN_WITHOUT	LUAN_NOTHING
#endif

/* 1 if this build has the mechanism. */
#define luaN_has(mechanism)	(LUAN_WITHOUT != (mechanism))

#endif
