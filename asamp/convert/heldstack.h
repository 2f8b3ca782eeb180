/* SPDX-License-Identifier: MIT */
/*
** Shows paths of references as stacks, for formats that have only stacks. A path leads from a root
** of the Lua state to objects alive at the end. The outermost frame is a root. The next frames are
** the steps (references) of the path. The innermost frame is the script's function that allocated
** these objects, with its line; it is missing if their stack has no function of a script. Rules:
**   HS1  a node's parent has a lower number; node 0 is not a frame;
**   HS2  the rows add up to the bytes of all samples alive at the end whose death would have been
**        recorded (followed samples). Samples without a known holder have a path of one step,
**        "[no holder known]".
*/
#ifndef asamp_heldstack_h
#define asamp_heldstack_h

#include "readprofile.h"
#include "sitetable.h"

#define HELDSTACK_NONE	UINT32_MAX

/* A frame of a stack that shows a path of references: a reference, or the function that
   allocated. */
typedef struct HeldNode {
  uint32_t parent;     /* index in HeldStack.nodes of the next outer frame; 0: none */
  uint32_t step;       /* index in HeldStack.steps of the reference that the frame shows;
			  HELDSTACK_NONE: the frame is a function */
  uint32_t function;   /* index into the functions of the profile, if the node is a function */
  uint32_t line;       /* the line in 'function' that allocated; 0: not known */
} HeldNode;

typedef struct HeldRow {
  uint32_t node;       /* index in HeldStack.nodes of the innermost frame of a stack; several rows
			  may have the same one */
  uint64_t bytes;      /* bytes of the objects alive at the end that have this stack */
} HeldRow;

typedef struct HeldStack {
  HeldNode *nodes;
  const char **steps;  /* distinct texts of steps (references of a path); the texts belong to the
                          profile */
  HeldRow *rows;
  uint32_t nnodes, nsteps;
  size_t nrows;
  size_t nodesize, stepsize, rowsize;
} HeldStack;

/*
** Fills h from 'held', a table filled by the callback ReaderClient.held: Site.node is the stack of
** the allocation, Site.kind the number of the path of references (0: unknown). If the profile has
** no paths, there are no rows. Returns 0 if there is not enough memory; heldstack_free must be
** called in any case.
*/
int heldstack_init (HeldStack *h, const ReadProfile *r, const SiteTable *held);
void heldstack_free (HeldStack *h);

#endif
