/* SPDX-License-Identifier: MIT */
/*
** Shows paths of references as stacks. A path leads from a root of the Lua state to objects alive
** at the end. In its stack, the outermost frame is the root; the references follow; the innermost
** frame is the script's function and line that allocated the objects.
**
**   HS1  a node's parent has a lower number; node 0 is not a frame;
**   HS2  the rows together have the bytes of all samples that are known to be alive at the end.
**        Survivors whose deaths are not recorded are left out, because they may be dead. An object
**        without a known path has a path of one reference, "[no holder known]".
*/
#ifndef asamp_heldstack_h
#define asamp_heldstack_h

#include "readprofile.h"
#include "sitetable.h"

#define HELDSTACK_NONE	UINT32_MAX

/* A frame of a path: a reference or, as the innermost frame, the function that allocated. */
typedef struct HeldNode {
  uint32_t parent;     /* next outer frame, index in HeldStack.nodes; 0: this frame is outermost */
  /* The reference that this frame shows, index in HeldStack.steps. HELDSTACK_NONE: the frame shows
     a function. */
  uint32_t step;
  uint32_t function;   /* index in ReadProfile.functions; valid if 'step' is HELDSTACK_NONE */
  uint32_t line;       /* source line that allocated the objects; 0: unknown, or the frame shows a
                          reference */
} HeldNode;

typedef struct HeldRow {
  uint32_t node;       /* innermost frame, index in HeldStack.nodes */
  uint64_t bytes;      /* bytes of the objects with this stack */
} HeldRow;

typedef struct HeldStack {
  HeldNode *nodes;
  const char **steps;  /* distinct texts of references; the profile owns the texts */
  HeldRow *rows;
  uint32_t nnodes, nsteps;
  size_t nrows;
  size_t nodesize, stepsize, rowsize;
} HeldStack;

/* Fills h with the stacks of the objects alive at the end. A site of 'held' has the bytes of
   objects with one allocating stack (Site.node) and one path of references (number Site.kind; 0:
   unknown). Returns 0 if out of memory; call heldstack_free in either case. */
int heldstack_init (HeldStack *h, const ReadProfile *r, const SiteTable *held);
void heldstack_free (HeldStack *h);

#endif
