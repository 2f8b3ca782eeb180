/* SPDX-License-Identifier: MIT */
/*
** Leaves out ("folds") the outermost native frames with which nearly every stack of a script starts
** (_start, main, pmain ...).
**
**   FO1  the outermost native functions that all considered stacks share are folded. A stack is
**        considered if it contains a function of a script and has the most common outermost
**        function. The other stacks are of other threads, or truncated;
**   FO2  no stack becomes empty: a stack whose innermost frame is folded keeps that frame.
**
** The files in asamp/convert convert profiles to other formats. A converter is a client of the
** reader (readprofile.h) or uses its totals (readersum.h), and writes to an Output (output.h),
** which the caller opens.
*/
#ifndef asamp_fold_h
#define asamp_fold_h

#include "readprofile.h"

typedef struct Fold {
  unsigned char *folded;  /* folded[i]: position in the stack (1: outermost) of the frame of call
                             tree node i, if output leaves out this frame; else 0 */
} Fold;

/* Chooses the frames that output leaves out (FO1). If 'keep' is not 0, output leaves out no frame.
   Returns 0 if out of memory; call fold_free in either case. */
int fold_init (Fold *f, const ReadProfile *r, int keep);
void fold_free (Fold *f);

/* Returns the caller of a node; 0: the node has no caller, or the caller is folded. */
static inline uint32_t fold_parent (const Fold *f, const ReadProfile *r, uint32_t node) {
  uint32_t parent = r->tree.nodes[node].parent;
  return f->folded[parent] ? 0 : parent;
}

#endif
