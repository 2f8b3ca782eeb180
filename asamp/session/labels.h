/* SPDX-License-Identifier: MIT */
/*
** Sets of labels, by which a program distinguishes the work of its coroutines. A coroutine has the
** number of one set (luaN_setlabel), and each sample of the coroutine receives this number. Sets
** belong to the process and exist until the process ends.
**
**   LB1  set 0 has no labels. The labels of a set have different names, in the order of the
**        first use of the names;
**   LB2  a set never changes. labels_of takes no lock: the writer thread may call it at any
**        time;
**   LB3  memory is bounded: at most LABELS_NAMES names, LABELS_VALUES values per name,
**        PROFILE_LABELS labels per set and LABELS_MOST sets. Further values become
**        LABELS_OTHERS; labels with further names, and further labels of a set, are left out.
**        labels_left reports how often this has happened.
*/
#ifndef asamp_labels_h
#define asamp_labels_h

#include "sample.h"

#define LABELS_OTHERS	"(others)"	/* replaces all values beyond the limits */
#define LABELS_TEXT	255	/* longest name or value, bytes */
/* Largest number of label sets. The first LABELS_SETS sets may have any labels. In each later set,
   all labels have the value LABELS_OTHERS, so there is at most one later set for each combination
   of names. When LABELS_MOST sets exist, set 0 replaces further sets. */
#define LABELS_MOST	(LABELS_SETS + BOUND(256u, 8))
#define LABELS_NOMEMORY	UINT32_MAX	/* result of labels_change if out of memory */

/* A label to set or to remove. */
typedef struct LabelChange {
  const char *name, *value;	/* Any bytes. value NULL: remove the label. */
  size_t namelength, valuelength;
} LabelChange;

/* Applies n changes, in order, to the labels of 'set'. Returns the number of the set with the
   resulting labels, or LABELS_NOMEMORY. Thread-safe, but not async-signal-safe. */
uint32_t labels_change (uint32_t set, const LabelChange *changes, size_t n);

/* Stores the labels of set number 'set' in 'to', at most PROFILE_LABELS, and returns how many there
   are. Returns 0 for set 0 and for an unknown set. 'ud' is unused, because this function is a
   callback (EncoderConfig.labels). Takes no lock. */
size_t labels_of (void *ud, uint32_t set, ProfileLabel *to);

/* Adds to *left how often a limit left out a name, a value or a set. Adds the number of truncated
   names and values to *texts. */
void labels_left (ProfileLeft *left, uint64_t *texts);

#endif
