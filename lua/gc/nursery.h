/* SPDX-License-Identifier: MIT */
/*
** The nursery: bump allocation into the holes of the heap, with everything
** that may ever interrupt it folded into one limit.
**
**   nursery_limit = min(end of the hole in hand,
**                       address before the sample point,
**                       address at which a collection is due)
**
** An allocation adds its size to nursery_free, compares with nursery_limit
** and stores: these instructions are all there is, whether allocations are
** sampled or not. Only where the limit is passed does luaN_slow ask which of
** the three it was. Sampling off is a sample point at LUAN_INFINITY, not a flag;
** the idea and the words are those of Jung and Bolz-Tereick, "Low Overhead
** Allocation Sampling in a Garbage Collected Virtual Machine" (2026).
**
** Which bytes count, for samples and for the collector's pace: the bytes of
** every block that the core asks for, rounded up to 8: objects, vectors of
** tables, stacks, CallInfos, prototypes, buffers, large blocks too. Growing a
** block counts the growth, shrinking it nothing. What luaL_Buffer and C
** modules take from lua_Alloc or malloc by themselves does not pass here, but for
** what they say that a userdata stands for (luaN_outside): that counts for samples,
** and paces the collector in ways of its own (outside.c, pace.c).
**
** Invariants:
**   N1  free <= limit <= end, and all three lie in one hole (or are NULL).
**   N2  mark <= free: the bytes between them are allocated but not yet in
**       GCdebt and 'allocated'; luaN_settle moves mark up to free.
**   N3  GCdebt as settled is > 0 no later than at the first slow allocation
**       after the budget is used up: the limit holds the collection's place.
**   S1  point - free = bytes until the next sample, always >= 1. Whatever
**       passes by the nursery (large and medium blocks) moves the point left
**       by its size; whatever does not count (padding, the old bytes of a
**       block that grows) moves it right.
**   S2  a sample is taken after its block has been obtained and before
**       anybody can use it, or, when the block is the running stack that is
**       being moved, as soon as that can be walked again (nothing is allocated
**       between). A failed allocation takes none and moves nothing.
*/
#ifndef luaN_nursery_h
#define luaN_nursery_h

#include "heap.h"
#include "debug.h"

/*
** What a block of memory is, for the sampler: the variant tag of an object
** (LUA_VTABLE ...) or one of these, which no object's tag equals.
*/
enum luaN_Vector {
  LUAN_VARRAY = 0x80, LUAN_VHASH, LUAN_VSTACK, LUAN_VRESTACK, LUAN_VPROTO,
  LUAN_VBUFFER,
  LUAN_VOUTSIDE		/* no block: bytes that a userdata stands for */
};

/*
** Memory that is not an object is told apart by the file that asks for it:
** every source file of the core defines its own name.
*/
#if defined(ltable_c)
#define LUAN_VECTOR	LUAN_VHASH	/* luaM_realloc_ says LUAN_VARRAY */
#define LUAN_REALLOCED	LUAN_VARRAY
#elif defined(lstate_c)
#define LUAN_VECTOR	LUAN_VSTACK
#elif defined(ldo_c)
#define LUAN_VECTOR	LUAN_VPROTO	/* frees the parser's */
#define LUAN_REALLOCED	LUAN_VRESTACK	/* while it is moved, nobody can walk it */
#define LUAN_BUFFER	LUAN_VBUFFER	/* frees the scanner's */
#elif defined(lfunc_c) || defined(lparser_c) || defined(lcode_c) || \
      defined(lundump_c) || defined(ldebug_c)
#define LUAN_VECTOR	LUAN_VPROTO
#else
#define LUAN_VECTOR	LUAN_VBUFFER
#endif
#if !defined(LUAN_REALLOCED)
#define LUAN_REALLOCED	LUAN_VECTOR
#endif
#if !defined(LUAN_BUFFER)
#define LUAN_BUFFER	LUAN_REALLOCED
#endif

/* Is it memory that is freed by hand, and comes from lua_Alloc at any size? */
#define luaN_isexplicit(what) \
  ((what) == LUAN_VPROTO || (what) == LUAN_VBUFFER || (what) == LUA_VPROTO)

/*
** Allocates n bytes (rounded, > 0) off the fast path. 'what' as above. May
** collect in an emergency; raises a memory error when there is none left.
*/
LUAI_FUNC void *luaN_slow (lua_State *L, size_t size, int what);

/*
** A block of any size that is not an object is garbage: frees it (in lines, the
** lines that it fills). Tells the sampler when it watches.
*/
LUAI_FUNC void luaN_release (lua_State *L, void *block, size_t size, int what);

/* Settles the accounts (N2) and sets the limit anew. */
LUAI_FUNC void luaN_settle (struct global_State *g);

/* Aligns nursery_free to 16, so that what comes next is aligned. */
LUAI_FUNC void luaN_pad (struct global_State *g);

/* Every collection calls this when it knows what is dead. */
LUAI_FUNC void luaN_atomic (lua_State *L, int major);

/* u stands for n bytes outside of the heap that samples have not counted yet. */
LUAI_FUNC void luaN_countoutside (lua_State *L, Udata *u, uint64_t n);

/* The sampler is told that u stands for nothing any more. */
LUAI_FUNC void luaN_tookback (lua_State *L, Udata *u);

/* A stack of 'oldsize' slots has been moved: takes the sample that had to wait
   for it. */
LUAI_FUNC void luaN_moved (lua_State *L, int oldsize);

/* lua_close calls this while the state is still whole. */
LUAI_FUNC void luaN_closing (lua_State *L);

/* Bytes allocated since the accounts were settled. */
#define luaN_unsettled(g)  ((l_mem)((g)->heap.free - (g)->heap.mark))

/* Allocates memory for an object or vector of 'size' bytes. */
#define luaN_new(L,size,what)  luaN_new_(L, G(L), size, what)

static inline void *luaN_bump (luaN_Heap *h, size_t n) {
  char *p = h->free;
  char *q = p + n;
  if (l_unlikely(q > h->limit))
    return NULL;
  h->free = q;
  luaN_handedout(h, p, n);
  return p;
}

#define luaN_new_(L,g,size,what) \
  luaN_newin(L, &(g)->heap, size, what)

static inline void *luaN_newin (lua_State *L, luaN_Heap *h, size_t size,
                                int what) {
  if (l_likely(size <= LUAN_LARGE)) {
    void *p = luaN_bump(h, luaN_round(size));
    if (l_likely(p != NULL))
      return p;
  }
  return luaN_slow(L, size, what);
}

/*
** Whoever enters the core through the API may change its thread's stack: a
** thread that is asleep wakes (T1 of gc.h). The bytecode loop goes on in a
** thread that was awake when it was last left.
*/
#undef lua_lock
#define lua_lock(L) \
  (luaN_mayenter(L, __func__), \
   l_unlikely((L)->marked & LUAN_ASLEEP) ? luaN_wake(L) : (void)0)
#undef luai_threadyield
#define luai_threadyield(L)	((void)0)

#define LUAN_ASLEEP	0x08	/* of marked; a thread only */

LUAI_FUNC void luaN_wake (lua_State *L);

/* A new thread has got its stack. */
LUAI_FUNC void luaN_built (lua_State *L);

/* Makes n slots of a stack nil (a nil is 0, whatever stands beside it). */
#define luaN_erase(p,n) \
  (lua_assert(LUA_VNIL == 0), \
   memset(p, 0, cast_sizet(n) * sizeof(StackValue)))

/*
** Three functions stand in sections of their own, so that a walk of the C stack
** knows their frames by address (luaN_code of seam.h). The bytecode loop begins
** a cache line: where it lies by chance costs up to 4%.
*/
#define LUAN_SECTION(s)	__attribute__((section(s), aligned(64)))
LUAI_FUNC void luaV_execute (lua_State *L, CallInfo *ci) LUAN_SECTION("luavm");
LUAI_FUNC int luaN_runcoroutine (lua_State *L, int nargs)
    LUAN_SECTION("luaresume") __attribute__((noinline));
LUAI_FUNC int luaD_rawrunprotected (lua_State *L,
                                    void (*f) (lua_State *L, void *ud),
                                    void *ud)
    LUAN_SECTION("luaprotect") __attribute__((noinline));

#endif
