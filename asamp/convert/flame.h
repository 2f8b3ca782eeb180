/* SPDX-License-Identifier: MIT */
/*
** Writes the sites of a profile for flame graphs: as lines of collapsed stacks, or as speedscope's
** JSON.
*/
#ifndef asamp_flame_h
#define asamp_flame_h

#include "fold.h"
#include "output.h"
#include "readersum.h"
#include "spill.h"

/* The weights of stacks: bytes, numbers or times that a flame graph shows (flame_collapsed). */
enum FlameWeight {
  FLAME_BYTES, FLAME_SAMPLES, FLAME_SURVIVED, FLAME_ALIVE, FLAME_TIME, FLAME_HELD
};

/*
** Returns the reason why the profile does not have this weight ("has no samples of time"), or
** NULL. A profile without any samples counts as having all weights except FLAME_HELD.
*/
const char *flame_missing (const ReadProfile *r, enum FlameWeight weight);

/*
** Writes a line for each site whose weight is above 0: "root;caller;leaf;[kind] weight". The weight
** is, in the order of FlameWeight
**   - allocated bytes
**   - number of allocation samples (sum of ReadSample.count)
**   - bytes that survived
**   - bytes alive at the end
**   - microseconds of time samples, or their number if the period is unknown; without "[kind]"
** With FLAME_HELD, a line is a row of heldstack.h: bytes alive at the end, with the path of
** references that keeps them alive as the stack.
**
** ';' and control characters in names are replaced. If the sums have tags, the outermost frames are
** the Lua state ("[state 3 worker]"), if there are several groups of states, and the labels
** ("[route=/checkout]"); not with FLAME_HELD. Called after readersum_finish. Returns 0 if there is
** not enough memory.
*/
int flame_collapsed (const ReadProfile *r, const Fold *fold, const ReaderSum *sum,
                     enum FlameWeight weight, Output *o);

/* The data of a speedscope file: totals, and the time samples. */
typedef struct Flame {
  ReaderClient client; /* pass this to reader_read */
  ReaderSum sum;
  Tags tags;
  Spill ticks;         /* temporary file with node, ns and tag (tags.h) of each time sample */
  uint64_t nticks;     /* number of time samples */
} Flame;

/*
** Initializes f. 'directory' is the folder of its temporary file; 'by' is the sum of the properties
** by which samples are distinguished (TAGS_BY... of tags.h). Returns NULL, or the reason for a
** failure. flame_free must be called in both cases.
*/
const char *flame_start (Flame *f, const char *directory, int by);
/*
** Writes a speedscope file, after reader_read. 'name' is a title for people. Returns NULL, or the
** reason for a failure (errors of the output itself are not included).
**
** The file has up to five kinds of profiles, as far as the input has the data: allocated bytes,
** bytes that survived, bytes alive at the end, the same by path of references, and time. Each group
** of Lua states has its own profiles, except the one by path. Stacks of time are in chronological
** order, those of paths in the order of heldstack.h, others in the order of the call tree. Labels
** are outermost frames.
*/
const char *flame_speedscope (Flame *f, const ReadProfile *r, const Fold *fold,
                              const char *name,
                              Output *o);
void flame_free (Flame *f);

#endif
