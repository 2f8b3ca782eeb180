/* SPDX-License-Identifier: MIT */
/*
** The stack of a sample: Lua frames with function and line, native frames in
** their place between them.
**
** How the two are put together: a C stack walk gives return addresses. Those
** in the core's code are left out, for what the core does there is told by
** the Lua frames: the bytecode loop stands for the Lua frames that it runs
** (down to the one for which it was entered), a resume for the rest of its
** coroutine. Frames of a coroutine that yielded across a C function have no
** native frame any more; the function is shown by its own address then.
** Of stacks deeper than LUAN_DEPTH the frames that the seam leaves out are
** shown as one; native frames outside of it may stand too far out then. The
** profile shows less of them (PROFILE_DEPTH): the rest is there to be left and
** called again without a new walk of everything (K3).
**
** A walk costs what changed since the walk before. A Lua function that has
** stayed (luaN_newframes) is still run by the same bytecode loop: everything
** outside of the function in the stack told then, native frames too, is as it
** was. Where only Lua functions and no hooks run inside of it, there is nobody's
** C code either, and the C stack is not looked at. Else it is walked up to that
** loop (unwind.h).
**
**   K1  'shared' frames are the outermost ones of the stack told before, by this
**       Stack, and are the same now;
**   K2  'known' are the Lua frames of the main thread in that stack, all of
**       them, or those inside of its cut, or none (it was told otherwise);
**   K3  inside of a cut there are PROFILE_DEPTH / 2 Lua frames or more: where
**       fewer are left, everything is walked again, as where more have come than
**       'known' has room for. That is once in so many returns or calls.
**
** Knows the seam and lua_getinfo, no internals of the core. Allocates by
** malloc, never from the state.
*/
#ifndef asamp_stack_h
#define asamp_stack_h

#include "lua.h"

#include "functions.h"
#include "moments.h"
#include "sample.h"

/* Line of instruction 'pc' of function 'id'; id 0: an empty entry. */
typedef struct StackLine {
  unsigned int id;
  int pc, line;
} StackLine;

/* Told of a function before the first stack that shows it (profile.h). */
typedef void (*StackEmit) (void *ud, uint64_t id, const char *name,
                           int linedefined, const char *source);

typedef struct Stack {
  ProfileFrame *frames;		/* the new ones, innermost first */
  size_t n;
  size_t shared;			/* frames outside of these, as told before */
  void **known;			/* K2, innermost first, at the end of the vector, ... */
  uint32_t *outside;		/* ... how many frames stand outside of each */
  uint32_t *places;		/* place in 'frames' of each frame in 'lua' */
  size_t nknown;
  int cut;			/* there are more outside of these */
  int bare;			/* the innermost thread has no frame yet */
  int resumed;			/* the main thread was resumed */
  struct luaN_Frame *lua;	/* the Lua frames, as the seam gives them */
  void **native;		/* return addresses */
  struct Unwind *unwind;		/* of a walk that is under way (unwindpool.h), or NULL */
  StackLine *lines;		/* cache of lines, which grows with what was not there */
  unsigned linemask, missed;	/* its size, a power of 2, less one; misses since it has that */
  Functions functions;		/* numbers of Lua functions */
  StackEmit emit;
  void *ud;
#if defined(LUAN_DEBUG)
  ProfileFrame *told;		/* the whole stack: every walk is checked (K1) */
  size_t ntold;
#endif
} Stack;

/* All zero: no memory yet. Has it, after this? 0: there is none. */
int stack_ready (Stack *s);
void stack_close (Stack *s);

/* Stacks are for somebody else from here on, who knows no function yet. */
void stack_begin (Stack *s, StackEmit emit, void *ud);

/* The same, in the child of a fork, which may have caught another thread in its
   functions: what these have is left. */
void stack_forget (Stack *s);

/*
** Walks the stack of L, which runs (luaN_running): s->frames are s->n new frames, innermost first;
** outside of them are s->shared ones of the stack told before. 'native': with
** native frames.
*/
void stack_walk (Stack *s, lua_State *L, int native);

/*
** Completes a moment at a point of L: s->frames is the stack of the moment, a
** collection its innermost frame. A frame that has been left is not there; of a
** thread without frames (m->ci NULL) the native ones are. Else as stack_walk;
** all frames are new.
*/
void stack_complete (Stack *s, lua_State *L, const Moment *m, int native);

/*
** The running stack of L, whose n native frames are known (as return addresses; 'whole':
** there are no more): s->frames is all of it, nothing is shared. 'sp' as in owner_mark,
** which may change 'native'. Neither walks the C stack nor waits, where 'emit' does
** not. L NULL: the native frames alone.
*/
void stack_known (Stack *s, lua_State *L, void **native, int n, int whole,
                  const void *sp);

#endif
