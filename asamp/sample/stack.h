/* SPDX-License-Identifier: MIT */
/*
** Determines the stack of a sample: Lua frames with function and line, and native frames between
** them.
**
** A walk of the C stack finds return addresses. An address in a bytecode loop (luaV_execute) is
** replaced by the Lua frames that this loop runs. An address in lua_resume is replaced by those
** frames of its coroutine that no loop runs. Other addresses in the Lua core are dropped.
*/

/*
** Only changed frames are walked. While a Lua function stays active, its callers do not change; so
** their frames are taken from the previous stack.
**
**   K1  the 'shared' outermost frames are the same as in the previous stack;
**   K2  'known' lists the Lua frames of the main thread in the previous stack, so that the next
**       walk finds those still active. A deep stack has a cut: its middle was left out. Then
**       'known' lists only the frames on the inner side of the cut. 'known' may be empty;
**   K3  if the previous stack has a cut, and fewer than PROFILE_DEPTH / 2 Lua frames would be on
**       the inner side of the cut (changed frames plus known frames), the stack is walked
**       completely.
*/
#ifndef asamp_stack_h
#define asamp_stack_h

#include "lua.h"

#include "functions.h"
#include "moments.h"
#include "sample.h"

/* An entry of Stack.lines: the line number of instruction 'pc' in the function prototype 'id'.
   id 0: empty entry. */
typedef struct StackLine {
  unsigned int id;
  int pc, line;
} StackLine;

/* Callback that receives a function before the first stack that contains the function. */
typedef void (*StackEmit) (void *ud, uint64_t id, const char *name,
                           int linedefined, const char *source);

/* The stack of one Lua state at its last sample. */
typedef struct Stack {
  ProfileFrame *frames;		/* The frames that changed since the previous stack, innermost
                                   first. */
  size_t n;	/* Number of elements of 'frames'. */
  /* Number of unchanged frames, the outermost ones of the stack. They are not in 'frames'. */
  size_t shared;
  void **known;			/* CallInfo addresses of Lua frames of the previous stack, innermost
                                   first. Of LUAN_DEPTH elements, only the last 'nknown' are
                                   used. */
  uint32_t *outside;		/* outside[i]: number of frames of the previous stack that are
                                   callers, direct or indirect, of the frame known[i]. */
  uint32_t *places;		/* For each frame in 'lua': its index in 'frames', or the index of
                                   the FRAME_TAIL after it. */
  size_t nknown;	/* Number of entries of 'known'. */
  /* 1: the stack is so deep that luaN_frames has left out the frames in its middle. */
  int cut;
  int bare;			/* 1: the innermost coroutine has no Lua frame yet, and the walk of
                                   the C stack has not yet reached its lua_resume. */
  int inmalloc;			/* 1: the sample is taken inside malloc, so the walk must not wait
                                   for a lock. */
  int resumed;			/* 1: the walk of the C stack has reached the lua_resume that the
                                   main thread has called. */
  struct luaN_Frame *lua;	/* The Lua frames of the walk, from luaN_frames. */
  void **native;		/* Buffer for return addresses. */
  struct Unwind *unwind;		/* Memory of the running walk of the C stack. NULL: no walk
                                           runs. &nowhere: there was no memory for a walk. */
  StackLine *lines;		/* Cache of the line numbers of instructions. */
  /* linemask: number of entries of 'lines', a power of 2, minus 1. missed: number of failed lookups
     since 'lines' was allocated; when it exceeds 'linemask', 'lines' grows. */
  unsigned linemask, missed;
  Functions functions;		/* The functions reported in this session. */
  unsigned int since;		/* Prototype ids up to this one are of earlier sessions. */
  StackEmit emit;
  void *ud;
#if defined(LUAN_DEBUG)
  ProfileFrame *reported;		/* The whole stack reported last, for stack_check. */
  size_t nreported;
#endif
} Stack;

/* Allocates the buffers if needed. Returns 0 if out of memory. An all-zero Stack is valid. */
int stack_ready (Stack *s);
void stack_close (Stack *s);

/* Starts a session, in which 'emit' is called once for each function. */
void stack_start (Stack *s, StackEmit emit, void *ud);

/* Starts a session in the child of a fork, with the same 'emit'. Frees no memory: another thread
   may have been changing the lists when the program forked. */
void stack_forget (Stack *s);

/* Walks the stack of the running thread L, with native frames if 'native' is 1. Sets s->frames to
   the s->n frames that differ from the previous stack, innermost first; the s->shared outermost
   frames are unchanged. Call stack_ready first. */
void stack_walk (Stack *s, lua_State *L, int native);

/*
** Determines the stack of a time sample: the stack at tick m, found at a later safepoint of L. Sets
** s->frames to the frames that ran at the tick, except Lua frames that have returned since. If a
** collection ran at the tick, it is the innermost frame. 'native' 1: includes m's native frames.
**
** If m->ci, the innermost Lua frame at the tick, has returned, uses all Lua frames of the
** safepoint.
*/
void stack_complete (Stack *s, lua_State *L, const Moment *m, int native);

/* Determines the stack of L (NULL: native frames only) from n native frames that the caller has
   walked. Sets s->frames to all frames.
   native  the return addresses, innermost first; overwritten
   whole   1: native[n - 1] is the return address of the stack's outermost frame
   sp      an address in the innermost frame */
void stack_known (Stack *s, lua_State *L, void **native, int n, int whole,
                  const void *sp);

#endif
