/* SPDX-License-Identifier: MIT */
/*
** Sets of labels: what programs say that their coroutines work for. A set has a number,
** which a thread carries (luaN_setlabel of seam.h) and a sample has; equal sets have one
** number. They are the process's, of all its states, whether it is sampled or not, and
** stay until it ends. Knows no Lua. Invariants:
**   LB1  set 0 has no labels; the labels of a set have different names, in the order in
**        which names were first used;
**   LB2  a set that has a number never changes, and labels_of needs no lock: the writer's
**        thread asks in whatever the program was interrupted;
**   LB3  memory is bounded: of a name there are LABELS_VALUES values, of which the last
**        stands for all others, LABELS_NAMES names, and LABELS_SETS sets. Where these are
**        used up a set has LABELS_OTHERS for all its values, and what finds no room then
**        is no label. All of that is counted.
*/
#ifndef asamp_labels_h
#define asamp_labels_h

#include "sample.h"

#define LABELS_OTHERS	"(others)"
#define LABELS_TEXT	255	/* bytes of a name and of a value */
#define LABELS_NOMEMORY	UINT32_MAX

typedef struct LabelChange {
  const char *name, *value;	/* any bytes; value NULL: the label is taken off */
  size_t namelength, valuelength;
} LabelChange;

/* The set with these changes made to it, one after the other. LABELS_NOMEMORY. From any
   OS thread, in no signal handler. */
uint32_t labels_change (uint32_t set, const LabelChange *changes, size_t n);

/* The labels of a set, at most PROFILE_LABELS; how many there are. */
size_t labels_of (void *ud, uint32_t set, ProfileLabel *to);

/* Adds what the limits have left out so far to 'left', and texts that were cut. */
void labels_left (ProfileLeft *left, uint64_t *texts);

#endif
