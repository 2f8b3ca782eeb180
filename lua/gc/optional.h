/* SPDX-License-Identifier: MIT */
/*
** The optional mechanisms of the core. Without one of them a program gives the same results, but
** takes more time or memory, or has longer pauses. bench/ablate reads the list below and, to
** measure a mechanism, builds the core without it (-DLUAN_WITHOUT=NAME). The columns of a comment
** are:
**   1. the files of lua/gc or lua that serve only this mechanism; file:function,function if only
**      these functions of the file do
**   2. the invariants that the mechanism depends on; -: none
**   3. the loads of bench/ablate.lua or bench/load that show its effect
*/
#ifndef luaN_optional_h
#define luaN_optional_h

enum {
  LUAN_NOTHING,
  LUAN_AGEING,		/* mark/ageing.c mark/ageing.h | G10 | edited messages handles */
  LUAN_PENDINGUDATA,	/* sweep/waiting.c sweep/waiting.h | G11 | cursors handles */
  LUAN_TEXTROOM,	/* pace/pace.c:textroom | - | text_queue messages */
  LUAN_WIDENURSERY,	/* pace/pace.c:luaN_outlived | - | ring queue live_heap */
  LUAN_EAGERTABLES,	/* mark/mark.c:mark_settle,mark_ends,endsall | - | full_collections */
  LUAN_SLOTMARKING,	/* remset/barrier.c:isstoredagain | - | permute */
  LUAN_TABLESLICES,	/* remset/refine.c:luaN_refinetables | - | swapped */
  LUAN_WEAKSLICES,	/* mark/ahead.c mark/ahead.h | G9 | dead_values weak_keys */
  LUAN_TOMBSTONES,	/* mark/hidden.c mark/hidden.h | G13 | dead_values */
  LUAN_GROWTHAHEAD,	/* alloc/growth.c alloc/growth.h vm/growing.c vm/growing.h |
			   GA1-GA3 | new_keys */
  LUAN_INPLACE		/* vm/inplace.c vm/inplace.h | - | replaced_keys weak_keys */
};

#if !defined(LUAN_WITHOUT)
#define LUAN_WITHOUT	LUAN_NOTHING
#endif

/* 1 if this build has the mechanism. */
#define luaN_has(mechanism)	(LUAN_WITHOUT != (mechanism))

#endif
