/* SPDX-License-Identifier: MIT */
/*
** Totals as stacks for flame graphs: sites in, collapsed lines or speedscope's
** JSON out.
*/
#ifndef asamp_flame_h
#define asamp_flame_h

#include "fold.h"
#include "output.h"
#include "readersum.h"
#include "spill.h"

enum FlameWeight {
  FLAME_BYTES, FLAME_SAMPLES, FLAME_SURVIVED, FLAME_ALIVE, FLAME_TIME, FLAME_HELD
};

/*
** What keeps a profile from having that weight ("has no samples of time"), or
** NULL. One without any sample lacks nothing.
*/
const char *flame_missing (const ReadProfile *r, enum FlameWeight weight);

/*
** One line a site: "root;caller;leaf;[kind] weight". Weights are bytes, counts
** of samples, surviving bytes, of these the bytes alive at the end,
** microseconds (samples of time when their period is not known), or bytes alive at the
** end with their holders for a stack (heldstack.h). Names lose
** ';' and control characters. If the sums have tags, the outermost frames are the Lua
** state, of a process that has several ("[state 3 worker]"), and the labels
** ("[route=/checkout]"). 0 without memory.
*/
int flame_collapsed (const ReadProfile *r, const Fold *fold, const ReaderSum *sum,
                     enum FlameWeight weight, Output *o);

/* What a speedscope file is made of: totals, and the samples of time. */
typedef struct Flame {
  ReaderClient client; /* hand this to reader_read */
  ReaderSum sum;
  Tags tags;
  Spill ticks;         /* node, ns and tag of each */
  uint64_t nticks;
} Flame;

/* 'directory': for the spill; 'by': what is told apart (tags.h). A phrase why not, or NULL. */
const char *flame_start (Flame *f, const char *directory, int by);
/*
** A speedscope file with a profile of bytes allocated, one of bytes that
** survived, one of those alive at the end, one of these by their holders and one of time,
** as far as the profile has them. The last is in the order of time, the others are in that
** of the call tree, or of paths. Of a process with several Lua states there is one of each
** for each state that has any; holders are of all. Labels are outermost frames. 'name': for
** people. A phrase why not, or NULL.
*/
const char *flame_speedscope (Flame *f, const ReadProfile *r, const Fold *fold,
                              const char *name,
                              Output *o);
void flame_free (Flame *f);

#endif
