/* SPDX-License-Identifier: MIT */
/*
** Determines the stack of a sample: Lua frames with function and line, with the native frames
** at their positions between them.
**
** Merging: a C stack walk gives return addresses. Those in the core's code are replaced by Lua
** frames: the bytecode loop by the Lua frames that it runs (out to the one for which it was
** entered), a resume by the remaining frames of its coroutine; other frames of the core are
** dropped. A coroutine that yielded across a C function has no native frame of that function any
** more; the function is then shown by its first address. In stacks deeper than LUAN_DEPTH, the
** frames that luaN_frames leaves out are shown as one frame, and native frames outside it may be
** placed too far out. The profile shows only PROFILE_DEPTH frames; with more of them known,
** complete walks are rare (K3).
**
** The cost of a walk depends on the change since the previous walk. A Lua function that is
** still active (luaN_newframes) is still run by the same bytecode loop: everything outside that
** loop, including native frames, is as it was in the previous walk. If only Lua functions and no
** hooks run inside it, there is no foreign C code, and the C stack is not read. Else the C stack
** is walked up to that loop (unwind.h).
**
**   K1  the 'shared' frames are the outermost ones of the stack that this Stack reported last,
**       and are unchanged;
**   K2  'known' are the Lua frames of the main thread in the stack of K1: all of them, or those
**       inside its cut, or none;
**   K3  inside a cut there are at least PROFILE_DEPTH / 2 Lua frames. If returns leave fewer, or
**       calls add more than 'known' has capacity for, the whole stack is walked again. That is
**       rare, because it takes hundreds of returns or calls.
**
** Uses seam.h and lua_getinfo, but no internals of the core. Allocates with malloc, never from
** the state.
*/
#ifndef asamp_stack_h
#define asamp_stack_h

#include "lua.h"

#include "functions.h"
#include "moments.h"
#include "sample.h"

/* Line of instruction 'pc' of prototype 'id'; id 0: an empty entry. */
typedef struct StackLine {
  unsigned int id;
  int pc, line;
} StackLine;

/* Callback that reports a function before the first stack that contains it (profile.h). */
typedef void (*StackEmit) (void *ud, uint64_t id, const char *name,
                           int linedefined, const char *source);

/* The stack of one state, as reported last. */
typedef struct Stack {
  ProfileFrame *frames;		/* The frames that are not shared, innermost first. */
  size_t n;	/* Number of elements of 'frames'. */
  size_t shared;			/* Number of unchanged frames outside 'frames' (K1). */
  void **known;			/* 'ci' of the known frames (K2), innermost first: the last
				   nknown of LUAN_DEPTH elements. */
  uint32_t *outside;		/* For each entry of 'known': the number of frames outside it. */
  uint32_t *places;		/* For each frame in 'lua': its index in 'frames'. */
  size_t nknown;	/* Number of entries of 'known'. */
  int cut;			/* 1: the stack has more frames outside the known ones. */
  int bare;			/* 1: the innermost thread has no frame yet; 0 after its resume. */
  int resumed;			/* 1: the main thread was resumed. */
  struct luaN_Frame *lua;	/* The Lua frames, from the seam. */
  void **native;		/* Buffer of return addresses. */
  struct Unwind *unwind;		/* Memory of the running walk (unwindpool.h); 'nowhere' of
				   stack.c: there was none; NULL: no walk runs. */
  StackLine *lines;		/* Cache of lines, which grows with the number of misses. */
  unsigned linemask, missed;	/* Entries of 'lines' (a power of 2) minus 1; number of misses
				   since 'lines' was allocated. */
  Functions functions;		/* Numbers of Lua functions. */
  StackEmit emit;
  void *ud;
#if defined(LUAN_DEBUG)
  ProfileFrame *reported;		/* The whole stack reported last: checks K1. */
  size_t nreported;
#endif
} Stack;

/*
** Allocates the buffers if needed. Returns 0 if there is not enough memory. An all-zero Stack is
** valid.
*/
int stack_ready (Stack *s);
void stack_close (Stack *s);

/* Starts a session: 'emit' is called again for every function. */
void stack_start (Stack *s, StackEmit emit, void *ud);

/*
** As stack_start, in the child of a fork: does not free the functions, because another thread of
** the parent may have been changing them at the fork.
*/
void stack_forget (Stack *s);

/*
** Walks the stack of the running thread L (luaN_running). Sets s->frames to s->n new frames,
** innermost first; the s->shared frames outside them are unchanged since the previous walk (K1).
** 'native' 1: with native frames. Requires stack_ready, as do stack_complete and stack_known.
*/
void stack_walk (Stack *s, lua_State *L, int native);

/*
** Completes tick m at a safepoint of L: sets s->frames to the stack at the tick. If a collection
** ran at the tick, its mark is the innermost frame. Lua frames that have returned since the tick
** are missing; if the frame m->ci has returned, the Lua frames are those at the safepoint. If the
** thread m->L had no frame (m->ci NULL), there is no Lua frame. No frame is shared.
*/
void stack_complete (Stack *s, lua_State *L, const Moment *m, int native);

/*
** Determines the running stack of L from n known native frames: return addresses in 'native', which
** owner_mark may change. 'whole': they reach to the end of the stack. 'sp': as in owner_mark. Sets
** s->frames to all frames; none is shared. L NULL: to the native frames only. Does not walk the C
** stack, and does not block unless s->emit does.
*/
void stack_known (Stack *s, lua_State *L, void **native, int n, int whole,
                  const void *sp);

#endif
