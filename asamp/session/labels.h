/* SPDX-License-Identifier: MIT */
/*
** Sets of labels, by which programs distinguish the work of their coroutines. A set has a
** number, which a Lua thread carries (luaN_setlabel of seam.h) and each sample records; equal sets
** have equal numbers. The sets belong to the process, for all its states, whether they are sampled
** or not, and exist until the process ends. Independent of Lua. Invariants:
**
**   LB1  set 0 has no labels; the labels of a set have different names, in the order in which the
**        process first used the names;
**   LB2  a set with a number never changes, and labels_of takes no lock: the writer's thread
**        calls it even while a signal handler has interrupted the owner of the lock;
**   LB3  memory is bounded: LABELS_VALUES values of each name, of which the first represents all
**        others; LABELS_NAMES names, without which further labels are left out; PROFILE_LABELS
**        labels of a set, likewise; LABELS_SETS sets. All values of a further set become
**        LABELS_OTHERS; if that set does not fit either, it becomes set 0. Each case is counted.
*/
#ifndef asamp_labels_h
#define asamp_labels_h

#include "sample.h"

#define LABELS_OTHERS	"(others)"	/* value that represents values beyond the limits */
#define LABELS_TEXT	255	/* longest name or value, bytes */
#define LABELS_MOST	(LABELS_SETS + BOUND(256u, 8))  /* larger than each set's number */
#define LABELS_NOMEMORY	UINT32_MAX	/* result of labels_change: out of memory */

/* A label to set or to remove. */
typedef struct LabelChange {
  const char *name, *value;	/* Any bytes; value NULL: removes the label. */
  size_t namelength, valuelength;
} LabelChange;

/*
** Returns the number of the set that results from n changes to 'set', in order (LB3), or
** LABELS_NOMEMORY. Thread-safe, but not async-signal-safe.
*/
uint32_t labels_change (uint32_t set, const LabelChange *changes, size_t n);

/*
** Stores the labels of a set, at most PROFILE_LABELS, in 'to', and returns their number; 0 for an
** unknown set. Takes no lock. 'ud' is not used.
*/
size_t labels_of (void *ud, uint32_t set, ProfileLabel *to);

/*
** Adds the counts of LB3 to 'labelnames', 'labelvalues' and 'labelsets' of *left, and the number of
** truncated texts to *texts.
*/
void labels_left (ProfileLeft *left, uint64_t *texts);

#endif
