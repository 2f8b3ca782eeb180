/* SPDX-License-Identifier: MIT */
/*
** What the files of the collector say to one another. A collection is made of
** these steps, which minor.c and major.c put together:
**
**   mark.c     marks and traverses objects
**   thread.c   ... threads: stacks, CallInfos, open upvalues
**   weak.c     weak tables and ephemerons, and what is cleared from them
**   remember.c barriers and the remembered set
**   refine.c   what is remembered, ahead of the collection
**   strings.c  the string table
**   sweep.c    finalizers, and objects that need more than forgetting
**   outside.c  memory and resources that userdata stand for
*/
#ifndef luaN_collector_h
#define luaN_collector_h

#include "lgc.h"
#include "lstate.h"
#include "ltable.h"

#include "vec.h"

/* May o be dead, as far as the collection that is running knows? */
#define luaN_white(g,o) \
  ((g)->heap.gc.minor ? luaN_isyoung(o) \
                      : !luaN_hascolour(o, (g)->heap.gc.colour))

/* Slots of a table's array part: luaH_realasize without the call, as a rule. */
static inline unsigned luaN_asize (const Table *t) {
  return l_likely(isrealasize(t)) ? t->alimit : luaH_realasize(t);
}

/* Bytes of a stack's block. */
#define luaN_stackbytes(th) \
  (((size_t)(th)->stackroom + EXTRA_STACK) * sizeof(StackValue))

/* Bytes that lua_Alloc is asked for beside those of a userdata (nursery.c). */
#define LUAN_UDATAROOM	((size_t)16)

/* Gives a userdata of so many bytes, which lua_Alloc gave, back to it. */
LUAI_FUNC void luaN_freeudata (global_State *g, void *o, size_t size);

/* Phases of a major collection: the dead that have finalizers are put aside; stacks give back what they no longer need (major.c). */
#define GCSselect	GCSenteratomic
#define GCSstacks	GCScallfin

#define luaN_bit(c)	((lu_byte)(1u << ((c) - 1)))	/* of a line's marks */

/* {== mark.c */
LUAI_FUNC void luaN_mark_ (global_State *g, GCObject *o);

#define luaN_mark(g,o) \
  { GCObject *o_ = obj2gco(o); \
    if (!luaN_hascolour(o_, (g)->heap.gc.colour)) luaN_mark_(g, o_); }
#define luaN_markN(g,o)  { if ((o) != NULL) luaN_mark(g, obj2gco(o)); }
#define luaN_markvalue(g,v) \
  { const TValue *v_ = (v); \
    if (iscollectable(v_)) luaN_mark(g, gcvalue(v_)); }

/* Marks the lines of n bytes at p, unless lua_Alloc gave them. */
LUAI_FUNC void luaN_marklines (global_State *g, const void *p, size_t n);

/* Marks the lines of a table's vectors. */
LUAI_FUNC void luaN_markvectors (global_State *g, const Table *t);

/* Traverses o; returns about how many bytes were looked at. */
LUAI_FUNC size_t luaN_traverse (global_State *g, GCObject *o);

/* Traverses the entries of a strong table from slot i on, at most n of them.
   Returns the first slot that was not looked at; 0: there are no more. */
LUAI_FUNC unsigned luaN_traverseslots (global_State *g, Table *t, unsigned i,
                                       unsigned n);

/* Until nothing is left in 'gray' (all: in 'major' too). */
LUAI_FUNC void luaN_drain (global_State *g, int all);

/* A slice of marking: at most about 'bytes'. Returns 1 when all is marked but
   what is pending, which luaN_drain looks for. */
LUAI_FUNC int luaN_markslice (global_State *g, size_t bytes);

/* Marks what is alive without anybody referring to it. */
LUAI_FUNC void luaN_markroots (lua_State *L);
/* } */

/* {== thread.c */
/* Marks what has changed of a stack since a collection saw it, or all of it. */
LUAI_FUNC size_t luaN_scanthread (global_State *g, lua_State *th, int all);
/* The same for an old thread that is too deep for a slice of a major collection: its
   first slice is to come; a slice of n CallInfos or slots. */
LUAI_FUNC void luaN_beginthread (global_State *g, lua_State *th);
LUAI_FUNC void luaN_threadslice (global_State *g, int n);
/* Gives back most of the stack and of the CallInfos that are not in use, and (but
   for all) were not since the last time; may allocate. The running thread and the
   main one are asked every 64 minor collections, others behind every major one,
   as those two are in full cycles (the incremental mode) and full collections. Returns
   about how many bytes were moved or looked at. */
LUAI_FUNC size_t luaN_shrinkthread (lua_State *th, int all);
/* A dead thread: closes its upvalues and frees what lua_Alloc gave. */
LUAI_FUNC void luaN_endthread (lua_State *L, lua_State *th);

/* Calls f with the frame of the main chunk that has ended last as the running one, so that
   what its variables held is still held; without it where that is not to be known. L is the
   main thread, and nothing runs. */
LUAI_FUNC void luaN_afterchunk (lua_State *L, void (*f) (void *ud, lua_State *L), void *ud);
/* } */

/* {== mark.c, verify.c: for walks */
/* Bytes of a thread's stack and CallInfos. */
LUAI_FUNC size_t luaN_threadbytes (const lua_State *th);
/* Did lua_Alloc give this object by itself? */
LUAI_FUNC int luaN_isapart (const global_State *g, const GCObject *o);
/* No object bears TESTBIT, or a bit of its block, any more. */
LUAI_FUNC void luaN_clearvisits (global_State *g);
/* } */

/* {== weak.c */
enum { LUAN_STRONG, LUAN_WEAKVALUES, LUAN_EPHEMERON, LUAN_ALLWEAK };
LUAI_FUNC int luaN_weakness (global_State *g, const Table *t);
/* A weak table has been met. Returns 0 when it must be taken for strong. */
LUAI_FUNC int luaN_meetweak (global_State *g, Table *t, int kind);
/* A weak table with remembered slots. It may have been strong, or there was no memory
   to list it, when the major collection looked at it: that clears it all the same. */
LUAI_FUNC void luaN_meetlate (global_State *g, Table *t, int kind);
/* An entry with a weak key: its value is marked if the key is alive; else it waits
   for luaN_finishmarks. 0: there is no memory for that, its table must be met. */
LUAI_FUNC int luaN_openentry (global_State *g, Node *n);
/* Those that a major collection has met, which does not go on. */
LUAI_FUNC void luaN_forgetweak (global_State *g);
/* Marks and clears weak tables, separates the dead that have finalizers. */
LUAI_FUNC void luaN_finishmarks (lua_State *L);
/* The same for a major collection in slices, when a slice has left nothing to mark. 0:
   there are too many of these objects, or of what they refer to, for one pause; it is
   to be called again when they are separated, and all is marked once more. */
LUAI_FUNC int luaN_endmarks (lua_State *L);
/* } */

/* {== remember.c */
/* Minor collection: marks what is remembered, which is forgotten then, but for
   slots of weak values. */
LUAI_FUNC void luaN_markremembered (lua_State *L);
/* Removes the entries of those whose values are dead, then those whose keys are. */
LUAI_FUNC void luaN_clearslots (global_State *g, int keys);
/* The slot of t, whose array part has asize, that address p lies in, counted as
   luaN_traverseslots does. 0: none, t has had other vectors then. */
static inline int luaN_slotof (const Table *t, unsigned asize, const void *p,
                               unsigned *i) {
  uintptr_t a = (uintptr_t)p - (uintptr_t)t->array;
  uintptr_t n = (uintptr_t)p - (uintptr_t)t->node;
  if (a < asize * sizeof(TValue)) *i = (unsigned)(a / sizeof(TValue));
  else if (n < (size_t)sizenode(t) * sizeof(Node))
    *i = asize + (unsigned)(n / sizeof(Node));
  else return 0;
  return 1;
}
LUAI_FUNC void luaN_forgetall (lua_State *L);
/* The running thread stays awake. */
LUAI_FUNC void luaN_stayawake (lua_State *L);
LUAI_FUNC void luaN_touch (lua_State *L, GCObject *o);
/* } */

/* {== refine.c */
/* The barriers' lists are long when so many words of 'slots' are in use, or objects
   in 'touched'; a minor collection may find so many slots in 'whole'. */
#define LUAN_MANY	(1u << 15)
/* A table of so many slots is vast: its values lie where no cache has them. */
#define luaN_isvast(c,slots)	((slots) >= 8 * (size_t)(c)->many)
/* Words of 'slots' whose slots a core's cache and its pages' table still hold. */
#define LUAN_CACHED	(1u << 12)
/* What the barriers remember is looked at, and then forgotten: what is young there has been
   tenured. May be called wherever a barrier may. */
LUAI_FUNC void luaN_refineslots (lua_State *L);
LUAI_FUNC void luaN_refinetouched (lua_State *L);
/* o, which something old refers to, is tenured, and remembered itself. */
LUAI_FUNC void luaN_tenure (lua_State *L, GCObject *o);
/* The same for a slice of a table that is remembered as a whole, at a safe point.
   Returns 0 when a minor collection can do what is left. */
LUAI_FUNC int luaN_refinetables (lua_State *L);
/* A collection has seen what they had to see. */
LUAI_FUNC void luaN_forgetrefining (global_State *g);
/* Entry k of the remembered slots is being looked at: fetches what comes, as far as it
   is of the same table, whose array part has asize slots. */
LUAI_FUNC void luaN_foreslot (const luaN_Vec *s, size_t k, unsigned asize);
/* } */

/* {== strings.c */
LUAI_FUNC void luaN_clearcache (global_State *g);
LUAI_FUNC void luaN_sweepyoungstrings (global_State *g);
/* At most n buckets; returns 1 when no bucket is left. */
LUAI_FUNC int luaN_sweepstrings (global_State *g, int n);
/* Makes the table smaller when it is much too large, some buckets at a time. */
LUAI_FUNC void luaN_shrinkstrings (lua_State *L);
/* } */

/* {== sweep.c */
LUAI_FUNC void luaN_separate (lua_State *L, int all);
/* The same in slices, behind luaN_beginselection, for about so many bytes of marking.
   Returns what a slice cost; gc.selection tells when it was the last one. */
LUAI_FUNC void luaN_beginselection (luaN_Gc *c);
LUAI_FUNC size_t luaN_selectslice (global_State *g, size_t bytes);
/* A full collection begins, or the state closes: what was put aside stays so. */
LUAI_FUNC void luaN_endselection (luaN_Gc *c);
/* Marks at most n of those that wait for their finalizer, for a major collection.
   Returns how many of them were left. */
LUAI_FUNC size_t luaN_markfinalized (global_State *g, size_t n);
/* The lists of threads, tables with large vectors, objects from lua_Alloc, standins,
   and that of objects with finalizers, which loses its gaps: the young part of each in
   a minor collection, else all. */
LUAI_FUNC void luaN_sweeplists (lua_State *L);
/* The same in slices (G7): the first comes, a slice of about so many bytes of marking
   is made (returns what it cost), the last one has ended. */
LUAI_FUNC void luaN_beginlists (global_State *g);
LUAI_FUNC size_t luaN_sweepslice (lua_State *L, size_t bytes);
LUAI_FUNC int luaN_listsdone (global_State *g);
/* One of these lists, in the order in which they are swept. */
#define LUAN_LISTS	5
LUAI_FUNC luaN_List *luaN_listof (luaN_Gc *c, int which);
/*
** Calls the finalizers that are due: a batch of them, or all. Where L has no room
** for a simple function they wait for the next collection, but when the state is
** closing. Returns whether some are left for another batch. Runs Lua code.
*/
typedef enum { LUAN_BATCH, LUAN_ALL, LUAN_CLOSING } luaN_Calls;
LUAI_FUNC int luaN_callfinalizers (lua_State *L, luaN_Calls which);
/* A collection has ended: decides how many calls the next batches make at least. */
LUAI_FUNC void luaN_setquota (global_State *g);
/* The lists of objects with finalizers give back what they do not need. */
LUAI_FUNC void luaN_shrinkfinalizers (global_State *g);
LUAI_FUNC void luaN_freeall (lua_State *L);
/* } */

/* {== outside.c */
/* Does u stay in 'standins'? The dead stand for nothing any more. */
LUAI_FUNC int luaN_keepstandin (global_State *g, Udata *u);
/* For the verifier: what is wrong, and with what; NULL: nothing. */
LUAI_FUNC const char *luaN_checkoutside (const global_State *g, const void **where);
/* } */

/* {== minor.c, major.c */
LUAI_FUNC void luaN_minor (lua_State *L);
LUAI_FUNC void luaN_beginmajor (lua_State *L);
/* Goes on with the major collection that runs; 'bytes' is what may be looked
   at. gcstate is GCSpause when it is over. */
LUAI_FUNC void luaN_majorstep (lua_State *L, size_t bytes);
/* Empty chunks go back to lua_Alloc: all, or some. */
LUAI_FUNC void luaN_trimheap (global_State *g, int all);
/* Everything at once. */
LUAI_FUNC void luaN_full (lua_State *L);
/* } */

/* {== tuning.c */
/* Reads LUA_GC, for a new state. */
LUAI_FUNC void luaN_readtuning (global_State *g);

/* By what does the collector pace itself: the operator's word, or the program's. */
#define luaN_tuned(t,own)	((t) != 0 ? (unsigned)(t) - 1u : (unsigned)(own))
#define luaN_isgen(g) \
  ((g)->heap.gc.tuning.mode != 0 ? (g)->heap.gc.tuning.mode == 1 + KGC_GEN \
                                 : isdecGCmodegen(g))
#define luaN_pause(g)	luaN_tuned((g)->heap.gc.tuning.pause, getgcparam((g)->gcpause))
#define luaN_stepmul(g) \
  (luaN_tuned((g)->heap.gc.tuning.stepmul, getgcparam((g)->gcstepmul)) | 1u)
#define luaN_majormul(g) \
  luaN_tuned((g)->heap.gc.tuning.major, getgcparam((g)->genmajormul))
/* } */

/* {== pace.c */
/* Bytes of old objects that no cache holds: marking them is slow. */
#define LUAN_BIG	((l_mem)64 * 1024 * 1024)
/* Takes what the nursery has in hand out of it. */
LUAI_FUNC void luaN_emptyhands (global_State *g);
/* Bytes in use, as the collector knows them now, become those of the state. */
LUAI_FUNC void luaN_recount (global_State *g);
/* Until the next minor collection. */
LUAI_FUNC void luaN_newnursery (global_State *g);
/* Bytes allocated since the last minor collection. */
LUAI_FUNC size_t luaN_unpaid (global_State *g);
/* The next minor collection comes n bytes earlier (later: n < 0). */
LUAI_FUNC void luaN_shorten (global_State *g, l_mem n);
/* The next safe point collects, unless the collector is stopped. */
LUAI_FUNC void luaN_hurry (global_State *g);
/* The next safe point comes early, for finalizers; the rest of the nursery
   waits for luaN_resume, which returns whether there was any. */
LUAI_FUNC void luaN_defer (global_State *g);
LUAI_FUNC int luaN_resume (global_State *g);
/* Nanoseconds of a clock that only goes forward. */
LUAI_FUNC uint64_t luaN_now (void);
/* Bytes that a step by hand stands for at least. */
LUAI_FUNC size_t luaN_stepsize (global_State *g);
/* By upstream's incremental mode: does a cycle run, or is it time for one? Steps by
   hand count. Always in the generational mode. */
LUAI_FUNC int luaN_cycledue (global_State *g);
/* Is it time for a major collection? */
LUAI_FUNC int luaN_majordue (global_State *g);
/* A major collection has found so many bytes of old objects dead. */
LUAI_FUNC void luaN_reclaimed (global_State *g, l_mem dead);
/* It is over. */
LUAI_FUNC void luaN_cycleended (global_State *g);
/* When the next one is due, by the mode and its parameters. */
LUAI_FUNC void luaN_setpace (global_State *g);
/* The program waits for a collection; it goes on (finalizers may be called). */
LUAI_FUNC void luaN_beginpause (global_State *g);
LUAI_FUNC void luaN_endpause (lua_State *L);
/* The same for a part of the work ahead of a collection, which nobody is told of. */
LUAI_FUNC void luaN_endslice (global_State *g);
#if defined(LUAN_DEBUG)
LUAI_FUNC void luaN_readstress (global_State *g);
#endif
/* } */

#endif
