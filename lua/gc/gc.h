/* SPDX-License-Identifier: MIT */
/*
** The facade: what the core knows of its collector. lgc.h includes this last, and leaves
** what a colour is and what a barrier asks to it.
**
** An object is young from its birth to the next minor collection; those that
** it finds alive are tenured where they lie and are old ever after. Two bits
** of 'marked' say which: 0 is young, 1 to 3 is the mark epoch of an old object.
** While no major collection runs, all old objects that are alive have the epoch
** heap.gc.mark.epoch. A major collection takes a new epoch and gives it to every old
** object that it reaches; what keeps another one is dead. There are three, so that a
** full collection can begin anew while one is marking.
**
** One test serves both kinds of collection: a store needs a barrier when the
** object written to is old and the object stored has not its epoch. That is
** so when it is young (a minor collection would miss it) and when it is old
** and not reached yet (the major collection would miss it).
**
** The object written to is asked first: when it is young, or all of it is remembered
** already, the header of the object stored is not looked at. Nor is it for a table
** of very many slots: they are remembered whatever is stored, for the
** header of a value that comes from anywhere in a big heap is a miss of the cache,
** and of many slots these misses overlap when they are looked at together (refine.c).
** The bit is that of object logging as MMTk has it.
**
** What a barrier remembers is seen by the next minor collection, which marks
** what is young and, while a major one is marking, gives what is not reached
** yet to it. A major collection is thus incremental with no barrier of its own;
** it ends right after a minor collection, when nothing is remembered. The
** scheme (minor collections between the steps of a major one, which sees what
** was written since through the same remembered set) is that of PyPy's
** incminimark.
**
** Invariants (checked by luaN_verify):
**   G1  an old object that refers to a young one is in remset.objects or remset.whole,
**       or the slot is in remset.slots, or it is remset.refining and the slot is yet to
**       come, or it is a thread whose stack is not clean, or remset.overflow is set. An
**       old open upvalue of a young thread is in remset.objects whatever it refers to: a
**       store into its slot has no barrier, and no collection may reach the thread.
**   G2  after a minor collection nothing reachable is young, but for texts that are AGED, and
**       what is left waiting (G11).
**   G3  while a major collection marks, an object of its epoch refers to one
**       of another only if it is on a mark stack (mark.young, mark.old), or as in G1.
**   G4  every object with FINALIZEDBIT is in 'finalizable' or, until its
**       finalizer is called, in 'tobefinalized'; in one of them, once. An entry of
**       the former is tagged (luaN_isselected) when a major collection has found it
**       dead and not put it aside yet. Its first 'old' entries are old.
**   G5  every short string that is reachable is in the string table, once; the
**       table holds no string whose lines may be handed out again.
**   G6  a table with LUAN_DISCOVERED is in weak.inmajor, once, and no other is there.
**   G7  while the list of sweep.c that is sweep.list is swept in slices, its entries
**       from sweep.kept to sweep.next are NULL; no other entry of a list is, but for those of
**       'finalizable' that were put aside.
**   G8  an old object is UNLOGGED unless it is in remset.objects or remset.whole, once; a
**       young one never is.
**   G9  of a table that is SCANNED, which is in weak.inmajor, an entry whose key or
**       value is old and has not the epoch is in weak.doubtful, or as in G1. These lists are
**       empty when no table is in weak.inmajor and no major collection marks.
**   G10 a text that is AGED is in lists.large from its 'old' on, or, if it is not listed, in
**       finalize.aged, its lines HELD; there is none while a major collection runs. A text is
**       MET only while a minor collection runs.
**   G11 finalize.left has userdata; those behind the first 'called' of them are young, and in
**       'tobefinalized', in the same order; there are none while a major collection runs.
**   G12 strings.seen of the short strings in the string table have the epoch. Of the others,
**       strings.dead are dead while it is swept, and none behind that.
**   G13 a slot that is hidden (hidden.h) is of a table that is SCANNED, while a major collection
**       marks, and keeps its key; its object is old.
**   T1  an old thread is CLEAN, or in remset.objects, or in remset.dirty, which is empty while a
**       collection runs; the main thread is a root. A thread that is CLEAN has not changed since
**       the last minor collection: whoever is about to change it makes it dirty (lua_lock).
**   T2  below the function of a frame with CIST_CLEAN, a stack has not changed
**       since a minor collection saw it. The bit is lost when the CallInfo is
**       used again, for a tail call, too, whose extra arguments lie below its
**       function; open upvalues have their own barrier, lua_setlocal clears
**       the bits. A stack of any depth is scanned where it has changed only.
**   T3  when a collection has seen a stack, all its slots from 'top' on are nil:
**       a frame that grows over them shows no dead value. No CallInfo tells how
**       far frames have reached, for those of later calls take its place.
**   T4  a stack's block has 'stackroom' slots and stack_last lies within it. What is
**       behind stack_last + EXTRA_STACK is not looked at, and made nil when the stack
**       grows over it.
*/
#ifndef luaN_gc_h
#define luaN_gc_h

#include "hidden.h"
#include "limit.h"
#include "text.h"

#define LUAN_EPOCH	0x03	/* of marked: 0 young, else the epoch */
#define LUAN_UNLOGGED	0x04	/* old, and not remembered (G8) */
#define LUAN_DISCOVERED	0x08	/* table: in weak.inmajor (thread: LUAN_CLEAN) */
#define LUAN_LISTED	0x10	/* table: in lists.tables; userdata: in lists.standins */
#define LUAN_LONG	0x10	/* thread: its stack has been much longer since
				   luaN_shrinkthread asked last */
#define LUAN_MET	0x08	/* text (ageing.h), or userdata that waits (waiting.h): this minor
				   collection leaves it young */
#define LUAN_AGED	0x10	/* text: one has left it young, ... */
#define LUAN_TWICE	0x40	/* ... and another one as well (FINALIZEDBIT of others). Of a
				   listed userdata the byte in front of it has that (luaN_age), */
#define LUAN_AGEDUDATA	0x20	/* ... another one has been left young (LUAN_PENDING of others) */
#define LUAN_VAST	0x80	/* table: has been vast (remset.h): slots are remembered
				   whatever is stored there (TESTBIT of others) */
#define LUAN_SCANNED	0x40	/* of a table's flags: a weak one that was looked at ahead
				   of the atomic step (ahead.h) */
#define LUAN_PENDING	0x20	/* listed object: see mark.c */

/* Phases of a major collection beside upstream's: the dead that have finalizers are put
   aside; stacks give back what they no longer need (major.c). */
#define GCSselect	GCSenteratomic
#define GCSstacks	GCScallfin

/* Entries of 'finalizable' (G4). */
#define luaN_select(p)	((void *)((uintptr_t)(p) | 1))
#define luaN_isselected(p)	(((uintptr_t)(p) & 1) != 0)
#define luaN_unselected(p)	((GCObject *)((uintptr_t)(p) & ~(uintptr_t)1))

#define luaN_isyoung(o)	(((o)->marked & LUAN_EPOCH) == 0)
#define luaN_isold(o)	(((o)->marked & LUAN_EPOCH) != 0)
#define luaN_islogged(o) \
  (((o)->marked & LUAN_EPOCH) != 0 && !((o)->marked & LUAN_UNLOGGED))
#define luaN_hasepoch(o,c)	(((o)->marked & LUAN_EPOCH) == (c))

/* Of CallInfo.callstatus. */
#define CIST_CLEAN	(1 << 14)	/* T2 */
#define CIST_SHOWN	(1 << 15)	/* luaN_newframes has given it (seam.h) */

/* A CallInfo that no call has used since a collection saw it: a frame in use never has both
   of these bits. */
#define CIST_CACHED	(CIST_C | CIST_FRESH)
#define luaN_iscached(ci)  (((ci)->callstatus & CIST_CACHED) == CIST_CACHED)

/* A table of at most so many slots is remembered whole, a larger one by slot. */
#define LUAN_SMALLTABLE	32

#define luaC_white(g)	0	/* what is born is young */

/* Has a major collection that is not over yet found o dead? */
#define isdead(g,o) \
  ((g)->heap.gc.sweep.active && luaN_hasepoch(o, (g)->heap.gc.mark.previous))

/* May o be dead, as far as the collection that is running knows? */
#define luaN_white(g,o) \
  ((g)->heap.gc.mark.minor ? luaN_isyoung(o) \
                      : !luaN_hasepoch(o, (g)->heap.gc.mark.epoch))

/* Would a collection miss o, if the old object p refers to it? */
#define luaN_differ(p,o) \
  ((((p)->marked ^ (o)->marked) & LUAN_EPOCH) != 0)

#define luaN_crosses(p,o)  (((p)->marked & LUAN_UNLOGGED) && luaN_differ(p, o))

/* The same for a table, which may have many slots. */
#define luaN_crossestable(t,o) \
  (((t)->marked & LUAN_UNLOGGED) && \
   (((t)->marked & LUAN_VAST) || luaN_differ(t, o)))

#define luaC_objbarrier(L,p,o) \
  (l_unlikely(luaN_crosses(p, o)) ? luaC_barrier_(L, obj2gco(p), obj2gco(o)) \
                                  : cast_void(0))
#define luaC_objbarrierback(L,p,o) \
  (l_unlikely(luaN_crosses(p, o)) ? luaC_barrierback_(L, obj2gco(p)) \
                                  : cast_void(0))

/*
** An error has been caught: what it has left on the stack is erased when memory was out.
** The frame that goes on may have registers there, which the next emergency would take
** for used.
*/
#define luaN_erasestarved(L) \
  (l_unlikely(G(L)->heap.starved) ? luaN_eraserest(L) : cast_void(0))

LUAI_FUNC void luaN_eraserest (lua_State *L);

/*
** luaO_tostring where o may be an upvalue of the running C function: a store that needs a
** barrier like any other, which upstream forgets.
*/
LUAI_FUNC void luaN_tostring (lua_State *L, TValue *o);

/* Bytes that may be allocated without a safe point once a collection is due. */
#define LUAN_OVERDUE	((l_mem)1 << 20)

/*
** The functions of the API that allocate and have no safe point (raw stores, names
** that are looked up) first ask whether a collection is long
** overdue. It is full, as in an emergency: no finalizer is called, no stack is
** moved. The core holds nothing there that is not anchored; nowhere else does it
** collect without being short of memory.
*/
#define luaN_isoverdue(g) \
  ((g)->GCdebt > LUAN_OVERDUE && (g)->GCdebt > (g)->heap.gc.bytes.old)
#define luaN_checkoverdue(L) \
  (l_unlikely(luaN_isoverdue(G(L)) || luaN_isstressed(G(L))) ? luaN_overdue(L) \
                                                             : cast_void(0))

LUAI_FUNC void luaN_overdue (lua_State *L);

/* From luaN_pin to luaN_unpin, or to an error of memory, closure f (or NULL) is a root. */
#define luaN_pin(L,f) \
  (G(L)->heap.pinned = ((f) != NULL) ? obj2gco(&(f)->c) : NULL)
#define luaN_unpin(L)	(G(L)->heap.pinned = NULL)

/* v has been stored in 'slot' of table t. */
#define luaN_slotbarrier(L,t,slot,v) \
  (iscollectable(v) && l_unlikely(luaN_crossestable(t, gcvalue(v))) \
   ? luaN_rememberslot(L, t, cast(TValue *, slot), gcvalue(v)) : cast_void(0))

/* v has been stored under 'key' of table t. */
#define luaN_keybarrier(L,t,key,v) \
  (iscollectable(v) && l_unlikely(luaN_crossestable(t, gcvalue(v))) \
   ? luaN_rememberslot(L, t, cast(TValue *, luaH_get(t, key)), gcvalue(v)) \
   : cast_void(0))

#define luaN_intbarrier(L,t,i,v) \
  (iscollectable(v) && l_unlikely(luaN_crossestable(t, gcvalue(v))) \
   ? luaN_rememberslot(L, t, cast(TValue *, luaH_getint(t, i)), gcvalue(v)) \
   : cast_void(0))

/* A frame of L other than the running one has been written to (T2). */
#define luaN_dirty(L) \
  { CallInfo *ci_; \
    for (ci_ = (L)->ci; ci_ != NULL; ci_ = ci_->previous) \
      ci_->callstatus &= cast(unsigned short, ~CIST_CLEAN); }

/* The running frame becomes that of a tail call (T2). */
#define luaN_tailcall(ci) \
  ((ci)->callstatus = cast(unsigned short, \
                           ((ci)->callstatus | CIST_TAIL) & ~CIST_CLEAN))

/* Remembers one slot of an old table: a value of its array or of a node. 'o' is what is
   stored there, or NULL. */
LUAI_FUNC void luaN_rememberslot (lua_State *L, Table *t, TValue *slot, GCObject *o);

/* Node n of t has got a new key, whose value v is about to be; or, v NULL, another node's, which
   no cache may hold. */
#define luaN_nodebarrier(L,t,n,v) \
  (((t)->marked & LUAN_UNLOGGED) ? luaN_remembernode(L, t, n, v) : cast_void(0))

LUAI_FUNC void luaN_remembernode (lua_State *L, Table *t, Node *n, const TValue *v);

/*
** t is about to get new vectors; 'unanchored' (or NULL) is one that has been allocated
** already, of n bytes. What is stored into them need not be remembered. t NULL: it has not
** got them.
*/
LUAI_FUNC void luaN_resizing (lua_State *L, const Table *t,
                              const void *unanchored, size_t n);

/*
** t has new vectors; 'before' are the bytes of those it had, 'array' (an address
** only) and the hash part of 'old' are where they were.
*/
LUAI_FUNC void luaN_resized (lua_State *L, Table *t, size_t before,
                             const TValue *array, unsigned asize,
                             const Table *old);

/* t is about to get other vectors: if it grows ahead (growth.h), that is over. */
LUAI_FUNC void luaN_leavegrowth (global_State *g, const Table *t);

/* How many slots to ask for in the hash part of t: at least 'hashed', the keys that belong
   there. The array part is about to have 'asize'. */
LUAI_FUNC unsigned luaN_hashroom (const Table *t, unsigned asize, unsigned hashed);

/* Bytes of a table's vectors, rounded up. */
LUAI_FUNC size_t luaN_vectorbytes (const Table *t);

/*
** o is about to get metatable mt (or NULL): makes room for its finalizer. Raises
** a memory error, after an emergency collection, while nothing has changed.
*/
LUAI_FUNC void luaN_beforefinalizer (lua_State *L, GCObject *o, Table *mt);

/* A state begins: 'h' is empty, and nothing is allocated. */
LUAI_FUNC void luaN_openheap (luaN_Heap *h);

/* ... and ends: gives every chunk back to lua_Alloc, whatever lies in it. */
LUAI_FUNC void luaN_closeheap (global_State *g);

/* lua_close calls this while the state is still whole. */
LUAI_FUNC void luaN_closing (lua_State *L);

/* While a state is being made: allocates what no collection may find missing. */
LUAI_FUNC void luaN_start (lua_State *L);

/* Brings a dead string back to life. Where it is stored a barrier would do that; the
   cache of C strings (luaS_new) may be all that holds it. */
LUAI_FUNC void luaN_resurrect (global_State *g, GCObject *o);

/* The short string ts has been made. Cannot fail. */
LUAI_FUNC void luaN_bornstring (global_State *g, TString *ts);

/*
** A step that the program asks for, as if so many KiB had been allocated (0: a
** step of the least size); 'stopped': the collector does not run by itself.
** Returns whether a cycle has ended with it, its finalizers called; never in the
** generational mode, where a step is a minor collection.
*/
LUAI_FUNC int luaN_step (lua_State *L, int kilobytes, int stopped);

/* The bucket of the string table for a hash (interned.c). */
#define luaN_bucket(g,h) \
  luaN_bucketof((g)->heap.gc.strings.limit, (g)->strt.size, cast_int((h) & \
                cast_uint((g)->strt.size - 1)))
#define luaN_bucketof(limit,size,i) \
  (l_likely((i) < (limit)) ? (i) : (i) - (size) / 2)

/* There are as many strings as buckets: adds some. Without memory chains get longer. */
LUAI_FUNC void luaN_growstrings (lua_State *L);

/*
** Makes the stack of L end after 'size' slots without moving it, if its block has
** so many and it does not end there already; 0: it must be moved. All frames end
** before that. Neither allocates nor collects.
*/
LUAI_FUNC int luaN_limitstack (lua_State *L, int size);

/* Slots of a stack that has too few of them. It grows by a stride at most: collections
   make nil what is above the top. */
#define LUAN_STRIDE	8192
#define luaN_longer(size) \
  ((size) + ((size) < LUAN_STRIDE ? (size) : LUAN_STRIDE))

/* How many slots to allocate for the stack of L, which is to have 'size'. */
LUAI_FUNC int luaN_roomfor (lua_State *L, int size);

/* How far the stack of L has just been moved, in bytes, and where a pointer of a CallInfo into it
   points now. The base's is the stack's first slot. Frames are so gone through once, and not
   before the move and after it: they are all over memory. */
#define luaN_stackmoved(L) \
  ((ptrdiff_t)((size_t)(L)->stack.p - (size_t)(L)->base_ci.func.p))
#define luaN_movedby(p,by)	((StkId)((size_t)(p) + (size_t)(by)))

/* L has got a CallInfo behind its running one. Where calls are deep it gets some more with it,
   which lie side by side then: a recursion whose frames lie among everything else costs whoever
   walks them a wait for memory each. Returns the next one to use; allocates, does not collect. */
LUAI_FUNC CallInfo *luaN_extended (lua_State *L);

/* A new thread has got its stack. */
LUAI_FUNC void luaN_built (lua_State *L);

/* A stack whose block had 'oldsize' slots has been moved, to one that ends at stack_last,
   and is to have 'size': takes the sample that had to wait for it. */
LUAI_FUNC void luaN_moved (lua_State *L, int oldsize, int size);

/* A table with vectors for asize and hsize (a power of 2, or 0) slots. */
LUAI_FUNC Table *luaN_newtable (lua_State *L, unsigned asize, unsigned hsize);

/* Bytes of a userdata: an empty one has an address of its own too. */
#define luaN_sizeudata(nuv,len)	sizeudata(nuv, (len) + ((len) == 0))

#define luaC_newobj(L,tt,sz)	luaN_newobject(L, tt, sz)

static inline GCObject *luaN_newobject (lua_State *L, int tt, size_t size) {
  GCObject *o = cast(GCObject *, luaN_newin(L, &G(L)->heap, size, tt));
  o->marked = 0;
  o->tt = cast_byte(tt);
  return o;
}

/* An object that lua_Alloc gives one by one, whatever its size. */
static inline GCObject *luaN_newlarge (lua_State *L, int tt, size_t size) {
  GCObject *o = cast(GCObject *, luaN_slow(L, size, tt));
  o->marked = 0;
  o->tt = cast_byte(tt);
  return o;
}

#endif
