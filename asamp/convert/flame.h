/* SPDX-License-Identifier: MIT */
/* Writes a profile for flame graphs: as collapsed stacks, or as speedscope's JSON. */
#ifndef asamp_flame_h
#define asamp_flame_h

#include "fold.h"
#include "output.h"
#include "readersum.h"
#include "spill.h"

/* The values that a flame graph can show. */
enum FlameWeight {
  FLAME_BYTES, FLAME_SAMPLES, FLAME_SURVIVED, FLAME_ALIVE, FLAME_TIME, FLAME_HELD
};

/* Returns NULL, or why the profile lacks this weight ("has no time samples"). */
const char *flame_missing (const ReadProfile *r, enum FlameWeight weight);

/* Writes collapsed stacks: a line "root;caller;leaf;[kind] weight" for each site (stack, kind and
   tag) whose weight is above 0. Weights of time are in us or, if the sampling period is unknown,
   numbers of samples. With FLAME_HELD, the stacks are paths of references, and the weights are the
   bytes that the references keep alive. If 'sum' distinguishes Lua states or labels, these are the
   outermost frames. Returns 0 if out of memory. */
int flame_collapsed (const ReadProfile *r, const Fold *fold, const ReaderSum *sum,
                     enum FlameWeight weight, Output *o);

/* The data of a speedscope file. */
typedef struct Flame {
  ReaderClient client; /* pass this to reader_read */
  ReaderSum sum;
  Tags tags;
  Spill ticks;         /* for each time sample: call tree node, ns, and tag, the number of a
                          combination of Lua state, thread and labels (tags.h) */
  uint64_t nticks;     /* number of time samples */
} Flame;

/* Initializes f. 'directory' is for its temporary file. 'by' is a sum of TAGS_BY* (tags.h), the
   properties that distinguish samples. Returns NULL or the reason of a failure; call flame_free in
   either case. */
const char *flame_start (Flame *f, const char *directory, int by);
/* Writes a speedscope file, and calls readersum_finish. Call it after reader_read. The file has, as
   far as there are data:
   - for each group of Lua states (tags.h), a profile of allocated bytes, one of survived bytes, one
     of live bytes, and one of time, whose samples are in chronological order
   - one profile of the paths of references, for all groups together
   Returns NULL or the reason of a failure; does not report errors of the output. */
const char *flame_speedscope (Flame *f, const ReadProfile *r, const Fold *fold,
                              const char *name,
                              Output *o);
void flame_free (Flame *f);

#endif
