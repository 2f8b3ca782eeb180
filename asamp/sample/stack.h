/* SPDX-License-Identifier: MIT */
/*
** Determines the stack of a sample: Lua frames with function and line, and native frames between
** them.
**
** A walk of the C stack gives return addresses. The address of a bytecode loop stands for the Lua
** frames that this loop runs, the address of a resume for the rest of its coroutine; other
** addresses in the core are dropped.
**
** Only changed frames are walked. While a Lua function stays active, everything outside its
** bytecode loop is unchanged.
**
**   K1  the 'shared' outermost frames are unchanged since the stack reported last;
**   K2  'known' has main-thread Lua frames of that stack: all, only those inside its cut, or none;
**   K3  in a stack with a cut (the middle left out), at least PROFILE_DEPTH / 2 Lua frames inside
**       the cut are known; else the whole stack is walked again.
*/
#ifndef asamp_stack_h
#define asamp_stack_h

#include "lua.h"

#include "functions.h"
#include "moments.h"
#include "sample.h"

/* A cached line: that of instruction 'pc' of prototype 'id'. id 0: empty. */
typedef struct StackLine {
  unsigned int id;
  int pc, line;
} StackLine;

/* Reports a function before the first stack that contains it. */
typedef void (*StackEmit) (void *ud, uint64_t id, const char *name,
                           int linedefined, const char *source);

/* The stack of one state, as reported last. */
typedef struct Stack {
  ProfileFrame *frames;		/* The frames that changed since the previous stack, innermost
                                   first. */
  size_t n;	/* Number of elements of 'frames'. */
  size_t shared;			/* Number of unchanged frames outside them (K1). */
  void **known;			/* CallInfo addresses (K2), innermost first: the last 'nknown'
                                   of LUAN_DEPTH elements. */
  uint32_t *outside;		/* For each entry of 'known': number of frames outside it. */
  uint32_t *places;		/* For each frame in 'lua': its index in 'frames'. */
  size_t nknown;	/* Number of entries of 'known'. */
  /* 1: luaN_frames has left out the middle of the stack; 'known' has only frames inside the gap
     (K2). */
  int cut;
  int bare;			/* 1: the innermost coroutine has no Lua frame yet, and the walk
                                   has not passed its resume. */
  int resumed;			/* 1: the main thread has resumed a coroutine. */
  struct luaN_Frame *lua;	/* The Lua frames of the walk, from luaN_frames. */
  void **native;		/* Buffer for return addresses. */
  struct Unwind *unwind;		/* Memory of the running walk; NULL: none runs;
                                           &nowhere: there was no memory for it. */
  StackLine *lines;		/* Cache of lines; grows after as many misses as it has entries. */
  unsigned linemask, missed;	/* Number of entries of 'lines' (a power of 2) minus 1; misses
                                   since 'lines' was allocated. */
  Functions functions;		/* The functions reported in this session. */
  StackEmit emit;
  void *ud;
#if defined(LUAN_DEBUG)
  ProfileFrame *reported;		/* The whole stack reported last, for stack_check. */
  size_t nreported;
#endif
} Stack;

/* Allocates the buffers if needed. Returns 0 if there is not enough memory. An all-zero Stack
   is valid. */
int stack_ready (Stack *s);
void stack_close (Stack *s);

/* Starts a session: 'emit' is called again for each function. */
void stack_start (Stack *s, StackEmit emit, void *ud);

/* Like stack_start in the child of a fork: keeps 'emit', and frees nothing because the memory
   may be inconsistent. */
void stack_forget (Stack *s);

/* Walks the stack of the running thread L, with native frames if 'native' is 1. Sets s->frames
   to the s->n changed frames, innermost first; the s->shared frames outside them are unchanged
   (K1). Call stack_ready first. */
void stack_walk (Stack *s, lua_State *L, int native);

/* Completes tick m at a safepoint of L: sets s->frames to all frames at the tick. Lua frames
   that have returned since are missing; if m->ci has returned, the Lua frames are those at the
   safepoint. A running collection is the innermost frame. */
void stack_complete (Stack *s, lua_State *L, const Moment *m, int native);

/* Determines the stack of L from n native frames that the caller has walked; L NULL: native
   frames only. Sets s->frames to all frames. 'native', which may be changed, has the return
   addresses; 'whole' and 'sp' are as for owner_mark. */
void stack_known (Stack *s, lua_State *L, void **native, int n, int whole,
                  const void *sp);

#endif
