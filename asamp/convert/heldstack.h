/* SPDX-License-Identifier: MIT */
/*
** Holders as stacks, for formats that have nothing else: the outermost frame is a root,
** then come the steps of the path to what is alive at the end, and innermost the function
** of a script, at its line, that has allocated it. Rules:
**   HS1  a node's parent has a lower number; node 0 is no frame;
**   HS2  rows add up to all that the profile tells to be alive and follows; what no holder
**        is known of is below a step that says so.
*/
#ifndef asamp_heldstack_h
#define asamp_heldstack_h

#include "readprofile.h"
#include "sitetable.h"

#define HELDSTACK_NONE	UINT32_MAX

typedef struct HeldNode {
  uint32_t parent;
  uint32_t step;       /* index into 'steps', HELDSTACK_NONE: a function */
  uint32_t function;   /* of the profile, at ... */
  uint32_t line;
} HeldNode;

typedef struct HeldRow {
  uint32_t node;
  uint64_t bytes;
} HeldRow;

typedef struct HeldStack {
  HeldNode *nodes;
  const char **steps;  /* texts of steps, all different: in the profile's 'text' */
  HeldRow *rows;
  uint32_t nnodes, nsteps;
  size_t nrows;
  size_t nodesize, stepsize, rowsize;
} HeldStack;

/* Of a profile whose holders a client has put into 'held' (node, and path as kind). A
   profile that tells none has no rows. 0 without memory; free it all the same. */
int heldstack_init (HeldStack *h, const ReadProfile *r, const SiteTable *held);
void heldstack_free (HeldStack *h);

#endif
