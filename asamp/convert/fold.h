/* SPDX-License-Identifier: MIT */
/*
** This folder converts profiles to files of other formats. A converter is a client of the reader
** (readprofile.h) or uses its totals (readersum.h). It writes to an Output (output.h), which the
** caller opens, and discards after a failure. No converter depends on Lua:
**
**   flame      collapsed stacks; speedscope's JSON
**   pprof      a message of profile.proto
**   firefox    the Firefox Profiler's JSON: firefox.h stores rows during reading, firefoxfile.h
**              writes the file from these rows
**   transcode  a VMProf log in the stock or extended format
**   unite      several profiles as one VMProf log
**
** fold.h and heldstack.h are shared parts. Data: temporary files of rows (spill.h), and in memory
** tables of names, frames and stacks, which do not grow with the number of samples. Rules: FO1 and
** FO2 below, HS1, HS2 (heldstack.h), FX1 to FX6 (firefox.h), FS1, FS2 (firefoxstacks.h), UN1 to UN3
** (unite.h).
**
** This file: every stack that reaches a script starts with the same C functions (_start, main,
** pmain ...), which say nothing about the program. Conversions leave out ("fold") these frames:
**   FO1  the native functions with which all considered stacks start are folded, in all stacks that
**        start with them. A stack is considered if it reaches a function of a script, and has the
**        most common outermost function. Others are not considered because the stacks of other
**        threads start with another function, and some time samples have truncated stacks;
**   FO2  no stack becomes empty: a stack that ends in a folded frame keeps that frame.
*/
#ifndef asamp_fold_h
#define asamp_fold_h

#include "readprofile.h"

typedef struct Fold {
  unsigned char *folded;  /* for each node: 0 if its frame is shown, else the position of the
                             left-out frame in its stack, from 1 for the outermost frame */
} Fold;

/*
** Chooses the frames of the profile r, which was read completely, that conversions leave out (FO1).
** If 'keep' is set, none is left out. Returns 0 if there is not enough memory. fold_free must be
** called in both cases.
*/
int fold_init (Fold *f, const ReadProfile *r, int keep);
void fold_free (Fold *f);

/* Returns the caller of a node, or 0 if it has none or the caller's frame is left out. */
static inline uint32_t fold_parent (const Fold *f, const ReadProfile *r, uint32_t node) {
  uint32_t parent = r->tree.nodes[node].parent;
  return f->folded[parent] ? 0 : parent;
}

#endif
