/* SPDX-License-Identifier: MIT */
/* Creation and end of a state. */

#include "ldo.h"
#include "lgc.h"
#include "lstring.h"

#include "chunks.h"
#include "finalize.h"
#include "growth.h"
#include "host.h"
#include "mapped.h"
#include "mark.h"
#include "pace.h"
#include "pause.h"
#include "remset.h"
#include "sampling.h"
#include "stress.h"
#include "sweep.h"
#include "tuning.h"


/* initial capacity, in tables, of each list of weak tables of a state */
#define FEW_WEAK	4


void luaN_openheap (luaN_Heap *h) {
  memset(h, 0, sizeof(*h));
  h->free = h->limit = h->end = h->mark = (char *)h;  /* no free lines yet (N1) */
  h->overflow.free = h->overflow.end = (char *)h;
  h->point = (uint64_t)(uintptr_t)h->free + LUAN_INFINITY;
  h->copyleft = LUAN_NOCOPIES;
  h->emergency = luaC_fullgc;
  luaN_openblocks(&h->blocks);
  h->gc.pace.patience = 2;
  h->gc.strings.limit = MINSTRTABSIZE;
  h->gc.strings.unlisted = 1;
  /* When a nursery ends, endnursery of interned.c computes the number of its new strings: the
     strings in the table, minus 'kept'. If this number is high for the size of the table, the next
     nursery keeps no list of its young strings, because sweeping all buckets is cheaper. The first
     nursery keeps no list ('unlisted' is 1). The negative 'kept' makes the first nursery's number
     of new strings appear high, so that in a small table the second nursery keeps no list
     either. */
  h->gc.strings.kept = -MINSTRTABSIZE;
  h->gc.mark.epoch = 1;
  h->gc.mark.bit = luaN_bit(1);
  h->gc.mark.previous = 2;
  h->gc.remset.dirty = LUAN_LASTDIRTY;
  luaN_opentick(&h->tick);
  luaN_addstates(1);
}


/* Prepares the collector of a new state: reserves the lists of weak tables, reads the tuning and
   sets the pace. A weak table that does not fit into the lists is treated as strong, which must not
   happen to a program with up to FEW_WEAK weak tables. */
void luaN_start (lua_State *L) {
  luaN_Gc *c = &G(L)->heap.gc;
  if (!luaN_reserve(G(L), &c->weak.discovered, FEW_WEAK) ||
      !luaN_reserve(G(L), &c->weak.inmajor, FEW_WEAK))
    luaM_error(L);
  luaN_fitvec(G(L), &c->lists.fixed);  /* luaC_fix, which fills this list, is not called later */
  luaN_readtuning(G(L));
  c->remset.many = LUAN_MANY;
  luaN_setpace(G(L));
  luaN_readstress(G(L));
}


/* Frees all memory from lua_Alloc, except the chunks and the list of small blocks. */
static void freeall (lua_State *L) {
  global_State *g = G(L);
  int i;
  luaN_retire(g);
  if (L->stack.p != NULL)
    /* lstate.c frees the whole block of the stack, and computes the block's size from stack_last */
    L->stack_last.p = L->stack.p + L->stackroom;
  luaN_endgrowth(g);
  luaN_freelists(L);
  g->strt.nuse = 0;
  for (i = 0; i < LUAN_VECS; i++) luaN_freevec(g, luaN_vecat(g, i));
}


void luaC_freeallobjects (lua_State *L) {
  global_State *g = G(L);
  g->gcstp = GCSTPCLS;  /* from here on no object gets a finalizer */
  g->heap.gc.finalize.selection = LUAN_UNSELECTED;
  luaN_selectfinalizable(L, 1);
  luaN_callfinalizers(L, LUAN_CLOSING);
  freeall(L);
}


/* Frees the heap of a closed state. If it was the last state of the process, also calls
   luaN_freeend and luaN_trimmalloc, which return the memory that the process keeps for the next
   state (giveback.h): at once if no other state was closed in the last second, otherwise at most
   once a second. */
void luaN_closeheap (global_State *g) {
  int again;
  g->heap.gc.pause.began = luaN_now();
  again = luaN_closespares((unsigned)(g->heap.gc.pause.began / 1000000));
  luaN_freechunks(g);
  luaN_freevec(g, &g->heap.blocks.small);
  luaN_addstates(-1);
  if (luaN_countstates() == 0) {
    luaN_freeend(g, !again);
    luaN_trimmalloc(g, !again);
  }
  else luaN_freeend(g, 0);
}


LUA_API int luaN_isclosing (lua_State *L) {
  return (G(L)->gcstp & GCSTPCLS) != 0;
}
