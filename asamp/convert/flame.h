/* SPDX-License-Identifier: MIT */
/*
** Export of totals for flame graphs: the sites of a profile as collapsed lines or as
** speedscope's JSON.
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
** Returns the reason why the profile cannot have this weight ("has no samples of time"), or
** NULL. A profile without samples can have all weights.
*/
const char *flame_missing (const ReadProfile *r, enum FlameWeight weight);

/*
** Writes one line for each site: "root;caller;leaf;[kind] weight". Weights are bytes, numbers
** of samples, bytes that survived, bytes alive at the end, microseconds (or numbers of time
** samples if the period is not known), or bytes alive at the end with their holders as the
** stack (heldstack.h). ';' and control characters in names are replaced. If the sums have tags,
** the outermost frames are the Lua state, if the process has several ("[state 3 worker]"), and
** the labels ("[route=/checkout]"). Returns 0 if there is not enough memory.
*/
int flame_collapsed (const ReadProfile *r, const Fold *fold, const ReaderSum *sum,
                     enum FlameWeight weight, Output *o);

/* The data of a speedscope file: totals, and the time samples. */
typedef struct Flame {
  ReaderClient client; /* pass this to reader_read */
  ReaderSum sum;
  Tags tags;
  Spill ticks;         /* node, ns and tag of each time sample */
  uint64_t nticks;
} Flame;

/*
** Initializes f. 'directory' is the folder of the spill; 'by' is the criterion for separate
** profiles (tags.h). Returns NULL, or the reason for a failure.
*/
const char *flame_start (Flame *f, const char *directory, int by);
/*
** Writes a speedscope file with up to five profiles, as far as the input has the data: allocated
** bytes, surviving bytes, bytes alive at the end, the same bytes by their holders, and time. Time
** is in chronological order; the others are in the order of the call tree or of paths. A process
** with several Lua states has separate profiles for each state, except for the holders. Labels
** are outermost frames. 'name' is a title for people. Returns NULL, or the reason for a failure.
*/
const char *flame_speedscope (Flame *f, const ReadProfile *r, const Fold *fold,
                              const char *name,
                              Output *o);
void flame_free (Flame *f);

#endif
