/* SPDX-License-Identifier: MIT */
/*
** Determines the stack of a sample. It has the Lua frames, with function and line, and the native
** frames at their positions between them.
**
** Merging. A walk of the C stack gives return addresses. Those in the core's code are replaced by
** Lua frames. The address of a bytecode loop is replaced by the Lua frames that this loop runs, out
** to the frame for which the loop was entered. The address of a resume is replaced by the remaining
** frames of its coroutine. Other addresses in the core are dropped.
**
** There are two exceptions. If a coroutine has yielded across a C function, the function has no
** native frame any more, and is shown with its start address. If a stack is deeper than LUAN_DEPTH,
** the frames that luaN_frames leaves out are shown as one frame, and native frames outside that
** frame may be placed too far out. The profile shows only PROFILE_DEPTH frames. While enough frames
** inside the cut are known, the whole stack is not walked again (K3).
**
** The cost of a walk depends on how much the stack has changed since the previous walk. If a Lua
** function is still active (luaN_newframes), the same bytecode loop still runs it, and everything
** outside that loop, including native frames, is as it was at the previous walk. If only Lua
** functions without hooks run inside that loop, there is no foreign C code, and the C stack is not
** read. Otherwise the C stack is walked out to that loop (unwind.h).
**
**   K1  the 'shared' frames are the outermost frames of the stack that this Stack reported last,
**       and they have not changed;
**   K2  'known' contains Lua frames of the main thread in the stack reported last (K1): all of
**       them, only those inside its cut, or none;
**   K3  in a stack with a cut, at least PROFILE_DEPTH / 2 Lua frames are known inside the cut. If
**       returns leave fewer, or if calls add more than 'known' has capacity for, the whole stack is
**       walked again. That is rare, because it takes hundreds of returns or calls.
**
** Uses seam.h and lua_getinfo, but no internals of the core. Allocates with malloc, never from the
** state.
*/
#ifndef asamp_stack_h
#define asamp_stack_h

#include "lua.h"

#include "functions.h"
#include "moments.h"
#include "sample.h"

/* A cached line: that of instruction 'pc' of prototype 'id'. id 0: an empty entry. */
typedef struct StackLine {
  unsigned int id;
  int pc, line;
} StackLine;

/* Callback that reports a function before the first stack that contains it (profile.h). */
typedef void (*StackEmit) (void *ud, uint64_t id, const char *name,
                           int linedefined, const char *source);

/* The stack of one state, as reported last. */
typedef struct Stack {
  ProfileFrame *frames;		/* The frames that are new since the previous stack, innermost
				   first. */
  size_t n;	/* Number of elements of 'frames'. */
  size_t shared;			/* Number of frames outside 'frames' that are unchanged
			   since the previous stack (K1). */
  void **known;			/* CallInfo addresses of Lua frames of the main thread in the
				   previous stack (K2), innermost first. They are the last 'nknown'
				   of LUAN_DEPTH elements. */
  uint32_t *outside;		/* For each entry of 'known': the number of frames of the stack
				   outside it. */
  uint32_t *places;		/* For each frame in 'lua': its index in 'frames'. */
  size_t nknown;	/* Number of entries of 'known'. */
  /* 1: the stack is so deep that luaN_frames has left out frames in its middle (LUAN_CUT), and
     'known' has only frames between this gap and the innermost frame (K2). */
  int cut;
  int bare;			/* 1: the innermost thread has no Lua frame yet, and the running
				   walk has not passed the native frame that resumed it. */
  int resumed;			/* 1: the main thread runs inside a resume. */
  struct luaN_Frame *lua;	/* The Lua frames of the running walk, from luaN_frames. */
  void **native;		/* Buffer for the return addresses of a walk of the C stack. */
  struct Unwind *unwind;		/* Memory of the running walk (unwindpool.h). NULL: no walk
				   runs. &nowhere (stack.c): a walk runs, but there was no memory
				   for it. */
  StackLine *lines;		/* Cache of lines. It grows after as many misses as it has
				   entries. */
  unsigned linemask, missed;	/* Number of entries of 'lines', a power of 2, minus 1; number of
				   misses since 'lines' was allocated. */
  Functions functions;		/* Numbers of the Lua functions that were emitted in this
				   session. */
  StackEmit emit;
  void *ud;
#if defined(LUAN_DEBUG)
  ProfileFrame *reported;		/* The whole stack reported last, for stack_check. */
  size_t nreported;
#endif
} Stack;

/*
** Allocates the buffers if needed. Returns 0 if there is not enough memory. An all-zero Stack is
** valid.
*/
int stack_ready (Stack *s);
void stack_close (Stack *s);

/* Starts a session: forgets which functions were emitted, so that 'emit' is called again for
   each. */
void stack_start (Stack *s, StackEmit emit, void *ud);

/*
** For the child of a fork: forgets which functions were emitted, like stack_start, and keeps
** 'emit'. Does not free the functions, because another thread of the parent may have been changing
** them at the fork.
*/
void stack_forget (Stack *s);

/*
** Walks the stack of the running thread L (luaN_running). Sets s->frames to the s->n frames that
** are new since the previous walk, innermost first; the s->shared frames outside them are unchanged
** (K1). If 'native' is 1, includes native frames. Call stack_ready before this function,
** stack_complete and stack_known.
*/
void stack_walk (Stack *s, lua_State *L, int native);

/*
** Completes tick m at a safepoint of L: sets s->frames to the stack at the tick; no frame is
** shared. If a collection ran at the tick, its mark is the innermost frame. Lua frames that have
** returned since the tick are missing; if m->ci itself has returned, the Lua frames are those at
** the safepoint. There are none if thread m->L had no frame at the tick (m->ci NULL).
*/
void stack_complete (Stack *s, lua_State *L, const Moment *m, int native);

/*
** Determines the running stack of L, or only its native frames if L is NULL, from n native frames
** that the caller has already walked. Sets s->frames to all frames; none is shared.
**   - 'native' has the return addresses, which owner_mark may change
**   - 'whole' is 1 if they reach to the end of the stack
**   - 'sp' is as for owner_mark
** Does not walk the C stack, and does not block unless s->emit does.
*/
void stack_known (Stack *s, lua_State *L, void **native, int n, int whole,
                  const void *sp);

#endif
