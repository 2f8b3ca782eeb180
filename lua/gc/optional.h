/* SPDX-License-Identifier: MIT */
/*
** The optional mechanisms of the core. Without one of them a program gives the same results, but
** takes more time or memory, or has longer pauses. bench/ablate reads this list, and builds the
** core without one (-DLUAN_WITHOUT=NAME) to measure its effect. The comment before a name ends with
** three sentences that the command reads:
** - "Its code:" source files that only this mechanism needs; functions of a file after a colon
** - "Its invariants:" invariants of gc.h that only this mechanism needs
** - "Benchmarks ...:" programs of bench/ablate.lua or bench/load that are slower, or need more
**   memory, without this mechanism
*/
#pragma once

enum {
  LUAN_NOTHING,
  /* Minor collections leave some live objects young for longer: long strings, large userdata, and
     small userdata with finalizers (ageing.h).
     Its code: mark/ageing.c mark/ageing.h. Its invariants: G10. Benchmarks that show its effect:
     edited messages handles. */
  LUAN_AGEING,
  /* Userdata that die young stay young until their finalizer has run.
     Its code: sweep/waiting.c sweep/waiting.h. Its invariants: G11. Benchmarks that show its
     effect: cursors handles. */
  LUAN_PENDINGUDATA,
  /* A limited number of bytes of long strings and large userdata may be allocated in addition to
     the nursery.
     Its code: pace/pace.c:textroom. Its invariants: none. Benchmarks that show its effect:
     text_queue messages. */
  LUAN_TEXTROOM,
  /* The largest size of a nursery is doubled if half of a nursery's bytes have survived.
     Its code: pace/pace.c:luaN_outlived. Its invariants: none. Benchmarks that show its effect:
     ring queue live_heap. */
  LUAN_WIDENURSERY,
  /* Small tables are marked recursively, without a mark stack.
     Its code: mark/mark.c:mark_settle,mark_ends,endsall. Its invariants: none. Benchmarks that show
     its effect: full_collections. */
  LUAN_EAGERTABLES,
  /* The write barrier of a huge table (at least 4,096 slots) remembers the slot without reading
     the stored object.
     Its code: remset/barrier.c:isstoredagain. Its invariants: none. Benchmarks that show its
     effect: permute. */
  LUAN_SLOTMARKING,
  /* Safepoints before a minor collection traverse large remembered tables in slices. Otherwise the
     minor collection traverses them in one pause.
     Its code: remset/refine.c:luaN_refinetables. Its invariants: none. Benchmarks that show its
     effect: swapped. */
  LUAN_TABLESLICES,
  /* Slices of a major collection visit weak tables before the atomic step (ahead.h).
     Its code: mark/ahead.c mark/ahead.h. Its invariants: G9. Benchmarks that show its effect:
     dead_values weak_keys. */
  LUAN_WEAKSLICES,
  /* Slices tombstone weak values that may be dead: the slots look empty to the program, so the
     atomic step need not visit them (hidden.h).
     Its code: mark/hidden.c mark/hidden.h. Its invariants: G13. Benchmarks that show its effect:
     dead_values. */
  LUAN_TOMBSTONES,
  /* Keys of a large hash part are copied in advance to its next, larger vector (growth.h).
     Its code: alloc/growth.c alloc/growth.h vm/growing.c vm/growing.h. Its invariants: GA1-GA3.
     Benchmarks that show its effect: new_keys. */
  LUAN_GROWTHAHEAD,
  /* If a rehash of a table does not change the size of its hash part, it moves the nodes inside the
     vector that contains them, and allocates no new vector.
     Its code: vm/inplace.c vm/inplace.h. Its invariants: none. Benchmarks that show its effect:
     replaced_keys weak_keys. */
  LUAN_INPLACE
};

#if !defined(LUAN_WITHOUT)
#define LUAN_WITHOUT	LUAN_NOTHING
#endif

/* 1 unless this build leaves out 'mechanism', a name of the enum above (-DLUAN_WITHOUT=NAME). */
#define luaN_has(mechanism)	(LUAN_WITHOUT != (mechanism))
