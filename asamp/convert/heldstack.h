/* SPDX-License-Identifier: MIT */
/*
** Paths of holders as stacks, for formats that know only stacks. The outermost frame is a root.
** It is followed by the steps of the path to the objects alive at the end. The innermost frame is
** the function of a script, with its line, that allocated them. Rules:
**   HS1  a node's parent has a lower number; node 0 is not a frame;
**   HS2  the rows add up to the bytes of all followed samples alive at the end; bytes without a
**        known holder are in rows with the step "[no holder known]".
*/
#ifndef asamp_heldstack_h
#define asamp_heldstack_h

#include "readprofile.h"
#include "sitetable.h"

#define HELDSTACK_NONE	UINT32_MAX

typedef struct HeldNode {
  uint32_t parent;
  uint32_t step;       /* index into 'steps'; HELDSTACK_NONE: the node is a function */
  uint32_t function;   /* index into the functions of the profile */
  uint32_t line;
} HeldNode;

typedef struct HeldRow {
  uint32_t node;
  uint64_t bytes;
} HeldRow;

typedef struct HeldStack {
  HeldNode *nodes;
  const char **steps;  /* distinct texts of steps; they belong to the profile */
  HeldRow *rows;
  uint32_t nnodes, nsteps;
  size_t nrows;
  size_t nodesize, stepsize, rowsize;
} HeldStack;

/*
** Fills h from the sites 'held' of a profile, whose nodes are allocation sites and whose kinds
** are paths of holders. A profile without holders has no rows. Returns 0 if there is not enough
** memory. heldstack_free must be called in both cases.
*/
int heldstack_init (HeldStack *h, const ReadProfile *r, const SiteTable *held);
void heldstack_free (HeldStack *h);

#endif
