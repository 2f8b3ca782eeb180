/* SPDX-License-Identifier: MIT */
/*
** Manages sets of labels, by which programs distinguish the work of their coroutines. Each set has
** a number. A Lua thread carries the number of its set (luaN_setlabel of seam.h), and each sample
** records it. Equal sets have equal numbers. The sets belong to the process, for all its states,
** whether they are sampled or not, and exist until the process ends. Independent of Lua.
** Invariants:
**
**   LB1  set 0 has no labels. The labels of a set have different names, in the order in which the
**        process first used the names;
**   LB2  a set that has a number never changes. labels_of takes no lock, because the writer's
**        thread must be able to call it while a signal handler has interrupted the owner of the
**        lock;
**   LB3  memory is bounded. A name has at most LABELS_VALUES values; the first of them,
**        LABELS_OTHERS, represents all further ones. Labels beyond LABELS_NAMES names, or beyond
**        PROFILE_LABELS labels in one set, are left out. In a set beyond LABELS_SETS sets, all
**        values become LABELS_OTHERS; if that set does not fit either, it becomes set 0. Each case
**        is counted.
*/
#ifndef asamp_labels_h
#define asamp_labels_h

#include "sample.h"

#define LABELS_OTHERS	"(others)"	/* value that replaces values beyond the limits */
#define LABELS_TEXT	255	/* longest name or value, bytes */
#define LABELS_MOST	(LABELS_SETS + BOUND(256u, 8))  /* larger than any set's number */
#define LABELS_NOMEMORY	UINT32_MAX	/* result of labels_change: not enough memory */

/* A label to set or to remove. */
typedef struct LabelChange {
  const char *name, *value;	/* Name and value, of any bytes. value NULL: the label is
				   removed. */
  size_t namelength, valuelength;
} LabelChange;

/*
** Returns the number of the set that results from applying n changes to 'set', in order (LB3).
** Returns LABELS_NOMEMORY if there is not enough memory. Thread-safe, but not async-signal-safe.
*/
uint32_t labels_change (uint32_t set, const LabelChange *changes, size_t n);

/*
** Stores the labels of a set, at most PROFILE_LABELS, in 'to', and returns their number; 0 for an
** unknown set. Takes no lock. 'ud' is not used.
*/
size_t labels_of (void *ud, uint32_t set, ProfileLabel *to);

/*
** Adds the counts of labels left out or replaced because of the limits (LB3) to 'labelnames',
** 'labelvalues' and 'labelsets' of *left, and the number of truncated texts to *texts.
*/
void labels_left (ProfileLeft *left, uint64_t *texts);

#endif
