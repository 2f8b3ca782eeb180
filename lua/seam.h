/* SPDX-License-Identifier: MIT */
/*
** The seam: everything that code outside the core may use of the fork. The declarations are
** exported in addition to Lua's own API, under the prefix luaN_. The core calls a sampler through
** the function pointers of luaN_Sampler; the core depends on no profiler and runs in the same way
** without a profiler.
**
** Unless stated otherwise, a function may be called wherever the Lua API may be called, also from
** the functions of a luaN_Sampler, and allocates nothing, collects nothing and raises nothing.
*/
#ifndef luaN_seam_h
#define luaN_seam_h

#include <stddef.h>
#include <stdint.h>

#include "lua.h"

/* version of the interface between the core and samplers that this header declares */
#define LUAN_SEAM	15

/* Kinds of memory blocks. */
typedef enum luaN_Kind {
  LUAN_KTABLE, LUAN_KARRAY, LUAN_KHASH, LUAN_KSTRING, LUAN_KLCLOSURE,
  LUAN_KCCLOSURE, LUAN_KUPVALUE, LUAN_KUSERDATA, LUAN_KTHREAD, LUAN_KSTACK,
  LUAN_KPROTO, LUAN_KBUFFER, LUAN_KOUTSIDE
} luaN_Kind;

/* A sample: describes the block whose allocation or growth reached the sample point, which is the
   number of allocated bytes at which the next sample is due. */
typedef struct luaN_Sample {
  /* Address of the block; its new bytes may be uninitialized. For LUAN_KOUTSIDE: an address that
     represents the owner's external bytes. */
  const void *block;
  /* The object that the block is, or the object that owns the block (a vector, a stack, external
     bytes). NULL: a buffer or a vector of a prototype. */
  const void *owner;
  /* Bytes of the block, rounded up to 8. For LUAN_KOUTSIDE: the bytes that this call of
     luaN_outside counts. */
  uint64_t size;
  luaN_Kind kind;
  /* 1: the block is not in the run of free lines from which the fast path allocates at present. */
  int outside;
  /* If the block is an object: bytes that rounding has added to 'size'. */
  unsigned rounding;
} luaN_Sample;

/*
** A sampler. Its functions run inside an allocation, a free, a collection or a safepoint, where the
** heap may be inconsistent. So they must not raise, allocate from the state, or call the Lua API.
** Exceptions: lua_getstack, and lua_getinfo with 'S', 'n' and 'l', also for frames of luaN_frames.
** The debug build ends a process in which one of them, except 'closing', calls another API function
** that may change a stack.
*/
typedef struct luaN_Sampler {
  void *ud;
  /* Called for the block 's', whose allocation or growth has reached the sample point and passed it
     by 'over' bytes. Returns the number of bytes, at least 1, that are to be allocated after 's'
     until the next sample. */
  uint64_t (*sample) (void *ud, lua_State *L, const luaN_Sample *s,
                      uint64_t over);
  /* Called when a collection has decided which objects are dead: luaN_isdead may be called for
     every owner of a sample. Objects that have died since the previous decision are not freed yet
     and may be read. 'major' is 1 in a major or full collection. */
  void (*decide) (void *ud, lua_State *L, int major);
  /* Called at the end of a pause, which started at 'began' of luaN_memory. In the pause, 'decide'
     was called once, or twice if a minor collection and the marking of a major one ended. No sample
     was taken between the last call of 'decide' and this call. */
  void (*collected) (void *ud, lua_State *L);
  /* Called for the blocks that luaN_watch selects by their bits, and for other blocks with the same
     bits,
       - when a block that is not an object is freed (it may have an owner)
       - when luaN_outside sets the external bytes of a userdata to 0
       - when a minor collection finds dead, after 'decide', a young string or userdata of more than
         512 bytes, or a userdata that an earlier minor collection left pending finalization */
  void (*freed) (void *ud, lua_State *L, const void *block);
  /* Called when a block that is not an object, and for which 'freed' would be called, is resized.
     (Not called for a table's array that grows in place.) The block had 'before' bytes at 'from',
     and has 'after' bytes at 'to', which may be the same address. The bytes that both sizes have in
     common stay in use; the other old bytes are freed. A sample of the new bytes may have been
     taken before. If the block has moved, 'freed' may be called for 'from' after this call. */
  void (*resized) (void *ud, lua_State *L, const void *from, const void *to,
                   uint64_t before, uint64_t after);
  /* Called at a safepoint to complete the ticks recorded by luaN_interrupt; may be called without a
     tick. luaN_frames writes the running stack, which has the frames that ran at the tick, without
     those that were left since then; it may have additional inner frames that were entered since
     then. */
  void (*point) (void *ud, lua_State *L);
  /* Called when lua_close starts. The state is whole, and collections are still possible. */
  void (*closing) (void *ud, lua_State *L);
  /* Called when the growth of a table or luaL_Buffer has moved n bytes, and the bytes moved by all
     such growth have reached the distance to the next copy sample. 'over' is the number of bytes
     beyond the distance. The first distance is set by luaN_setcopies; each call returns the next
     one, at least 1 byte. UINT64_MAX: no more copy samples. May be NULL. */
  uint64_t (*copied) (void *ud, lua_State *L, size_t n, uint64_t over);
  /* Called before the core raises a memory error (lauxlib.c does not call it), unless a limit
     (luaN_setlimits) has refused the memory. */
  void (*starved) (void *ud, lua_State *L);
} luaN_Sampler;

/* Sets the state's sampler and the distance in bytes to the first sample, at least 1. 's' belongs
   to the caller and must exist until another sampler is set. NULL removes the sampler. Removes the
   settings of luaN_watch and luaN_setcopies. */
LUA_API void luaN_setsampler (lua_State *L, const luaN_Sampler *s,
                              uint64_t distance);
/* Returns the state's sampler, or NULL. */
LUA_API const luaN_Sampler *luaN_getsampler (lua_State *L);

/* Returns the number of bytes that are still to be allocated until the next sample; UINT64_MAX
   without a sampler. */
LUA_API uint64_t luaN_distance (lua_State *L);

/* Sets the number of bytes, at least 1, that are to be allocated until the next sample. Does
   nothing without a sampler. */
LUA_API void luaN_setdistance (lua_State *L, uint64_t distance);

/* Returns the number of bytes allocated in the life of the state, as samples count them: blocks of
   the heap, and growth of the external bytes of userdata (luaN_outside). */
LUA_API uint64_t luaN_allocated (lua_State *L);

/* Sets the number of bytes that growth is to move until the next copy sample. Bytes that are moved:
   the previous hash part of a table, its previous array if it was moved, the contents of a
   luaL_Buffer. UINT64_MAX, which luaN_setsampler sets, means no copy samples. */
LUA_API void luaN_setcopies (lua_State *L, uint64_t distance);

/* number of kinds of memory blocks (luaN_Kind) */
#define LUAN_KINDS	((int)LUAN_KOUTSIDE + 1)

/*
** Exact counts of the memory that a state allocates, by kind. 'blocks' is the number of allocations
** and of growths, 'bytes' the bytes that they have added. LUAN_KSTACK counts CallInfos and the
** growth of stacks; the first stack of a coroutine counts as LUAN_KTHREAD. The sum of all bytes
** grows as luaN_allocated does.
*/
typedef struct luaN_Counts {
  uint64_t bytes[LUAN_KINDS];
  uint64_t blocks[LUAN_KINDS];
} luaN_Counts;

/*
** Adds everything that the state allocates from here on to 'to', which belongs to the caller.
** NULL ends the counting. While the state counts, each allocation takes the slow path; otherwise
** the fast path has no additional instruction. Like luaN_setlimits, not to be called from the
** functions of a luaN_Sampler.
*/
LUA_API void luaN_setcounts (lua_State *L, luaN_Counts *to);

/*
** Limits for programs that run untrusted code. An allocation that would exceed a limit fails as if
** lua_Alloc refused the memory: the core raises LUA_ERRMEM with the limit's message. The limit
** stays in effect after the error was caught. Blocks count as in luaN_allocated; memory that C code
** takes from malloc does not count. A luaL_Buffer is refused if an allocation of its size by the
** core would exceed a limit, or if all buffers together would exceed 'buffers'.
*/
typedef struct luaN_Limits {
  /* Largest number of bytes that the state may allocate in its life (luaN_allocated); UINT64_MAX:
     no limit. */
  uint64_t allocated;
  /* The largest number of bytes in use; UINT64_MAX: no limit. If an allocation would exceed the
     limit, a full collection without finalizers runs first, if one is possible. */
  uint64_t inuse;
  /* Largest number of bytes of all luaL_Buffers of the state together; UINT64_MAX: no limit. */
  uint64_t buffers;
  /* Messages of the errors that the three limits cause: addresses of strings (lua_topointer) that
     stay alive as long as the limits. */
  const void *whyallocated, *whyinuse, *whybuffers;
} luaN_Limits;

/* Sets the state's limits, which belong to the caller and must exist until others are set. NULL
   removes the limits. When a protected call ends, the limits that were set at its start are set
   again. lua_close removes the limits. Not to be called from the functions of a luaN_Sampler, which
   run before an allocation has set the nursery's limit; the debug build ends the process then. */
LUA_API void luaN_setlimits (lua_State *L, const luaN_Limits *limits);
/* Returns the state's limits, or NULL. */
LUA_API const luaN_Limits *luaN_getlimits (lua_State *L);

/* Counts a buffer of luaL_Buffer that is about to change from 'before' to n bytes (lauxlib.c).
   Raises the memory error if the buffer grows and an allocation of n bytes, or the sum of all
   buffers, would exceed a limit. May collect before that. Not for the functions of a
   luaN_Sampler. */
LUA_API void luaN_admit (lua_State *L, size_t before, size_t n);

/* Counts n bytes for copy samples: a buffer that contains them has grown (lauxlib.c). */
LUA_API void luaN_grown (lua_State *L, size_t n);

/* To be called in 'sample' of luaN_Sampler, for a string. If the running instruction is a
   concatenation that appends to a variable or field, as s = s .. x does, returns the bytes of the
   operands that were loaded from that variable or field; else 0. */
LUA_API size_t luaN_replaced (lua_State *L);

/* Bytes of a string's block that are not its text: the header and a NUL. */
#define LUAN_STRINGHEAD	17u

/*
** Sets the blocks for which 'freed' and 'resized' are called: 'bits' has 2^log2 bits, log2 from 6
** to 32, with the bit of each such block set (luaN_watchbit); other blocks may share a bit. The
** bits belong to the caller and may change at any time. NULL: none.
*/
LUA_API void luaN_watch (lua_State *L, const uint64_t *bits, unsigned log2);

/* Returns the number of the bit, below 2^log2, that represents a block. */
static inline unsigned luaN_watchbit (const void *block, unsigned log2) {
  return (uint32_t)((uintptr_t)block >> 3) * 2654435769u >> (32 - log2);
}

/* Returns 1 if the collection that is calling 'decide' of luaN_Sampler has found 'owner', the owner
   of a sample, dead. To be called only in 'decide', and not for an owner that was found dead in an
   earlier call of 'decide'. */
LUA_API int luaN_isdead (lua_State *L, const void *owner);

/* The next functions read tables by their addresses. In 'decide' of luaN_Sampler, results are valid
   until 'decide' returns, and a table that is not dead may be read until a later call of 'decide'
   finds it dead. At other times, reachable tables may be read on the OS thread that runs the state;
   results are valid until the state runs. */

/* Returns the metatable of an owner of samples, a table or userdata; NULL if it has none, or for
   other types. */
LUA_API const void *luaN_metatable (lua_State *L, const void *owner);

/* An entry of a table. */
typedef struct luaN_Entry {
  /* text of the entry's key; NULL: the key is not a string, or luaN_next leaves it out */
  const char *key;
  /* bytes of the text of the key */
  size_t keylength;
  const char *string;	/* text of the entry's value if it is a string, else NULL */
  /* bytes of the text of the value */
  size_t length;
  const void *table;	/* the entry's value if it is a table, else NULL */
  const void *function;	/* address of the C function if the entry's value is one, else NULL */
} luaN_Entry;

/* Sets *e to the entry of the string 'key', which has at most 40 bytes. Calls no metamethod.
   Returns 0 if there is no such entry, or if its value is weak and looks empty until the running
   major collection has decided whether the object is dead (mark/hidden.h). */
LUA_API int luaN_field (lua_State *L, const void *table, const char *key,
                        luaN_Entry *e);

/* Sets *e to the entry of node '*i' of a table's hash part and increments '*i'. Returns 0 after the
   last node. If the node has no value, or one that is neither a table nor a function, all members
   are NULL or 0. e->string is always NULL. */
LUA_API int luaN_next (lua_State *L, const void *table, size_t *i,
                       luaN_Entry *e);

/* luaN_registry returns the registry, luaN_globals the table of globals or NULL if the program
   has removed it. */
LUA_API const void *luaN_registry (lua_State *L);
LUA_API const void *luaN_globals (lua_State *L);

/*
** A walk over all objects that a full collection would keep, and over the references that keep them
** alive (edges, from the object that refers to the object that is referred to). The walk changes no
** count and no weak table, and runs no finalizer. It is breadth first: the first edge to an object
** ends a shortest path from a root. Objects that are reached only through a stack are reported
** after all others. Dead objects that are kept only for the call of their finalizers, and objects
** that only these refer to, are reported last.
*/
typedef enum luaN_EdgeKind {
  /* A root refers to the object. 'index' of luaN_Edge says which one (a luaN_Root); 'from' is
     NULL. */
  LUAN_EROOT,
  LUAN_EMETATABLE,
  LUAN_EINDEX,		/* t[index] */
  /* t[key], where the key is a string. The LUAN_EKEY edge to the string was reported before. */
  LUAN_EFIELD,
  /* t[key], where the key is no string and no integer. 'key' is NULL if the key is no object (a
     float, true, …), or is weak. */
  LUAN_EENTRY,
  LUAN_EKEY,		/* an object that is a key of the table, and not weak */
  /* The value under the key 'from' of the table 'in', whose keys are weak. */
  LUAN_EWEAKKEY,
  /* Upvalue number 'index' (from 1) of a closure. 'key' is its name, or NULL. 'in' is the
     prototype; for a C function 'in' is NULL and 'code' is set. */
  LUAN_EUPVALUE,
  LUAN_EVALUE,		/* the value of an upvalue */
  LUAN_EUSERVALUE,	/* user value number 'index' (from 1) of a userdata */
  LUAN_ELOCAL,		/* value of a thread's local variable: 'key' is the string with its name,
				   'in' the prototype, 'index' the slot of the call */
  /* For a thread: slot 'index' of a call. Slot 0 is the called function; extra arguments are below
     it. 'in' is the function's prototype; for a C function, 'in' is NULL and 'code' is set. Both
     are NULL for slots of no call, as in a coroutine that has not started. */
  LUAN_ESTACK,
  LUAN_EOPEN,		/* an open upvalue of a thread */
  LUAN_EPROTO,		/* the prototype of a closure, or of a function that 'from' contains */
  LUAN_ECONSTANT,
  LUAN_ENAME		/* a name for debugging, or the source */
} luaN_EdgeKind;

typedef enum luaN_Root {
  LUAN_RREGISTRY, LUAN_RTHREAD, LUAN_RPINNED, LUAN_RFIXED, LUAN_RFINALIZER,
  LUAN_RTYPE = 16	/* LUAN_RTYPE + t: the metatable of basic type t (LUA_TNIL, ...) */
} luaN_Root;

#define LUAN_NOPLACE	((size_t)-1)

typedef struct luaN_Edge {
  luaN_EdgeKind kind;
  int fresh;		/* 1: the edge is the first one that the walk reports to the object 'to' */
  const void *from, *to;
  /* Number of the object 'from' in the order of the walk ('place' of luaN_Object); LUAN_NOPLACE if
     'from' is NULL or a weak key. */
  size_t place;
  const void *key, *in;
  /* address of a C function, for the kinds of edges that have one (luaN_EdgeKind) */
  const void *code;
  long long index;
} luaN_Edge;

typedef struct luaN_Object {
  const void *object;
  /* kind of the object; its vectors are not reported, but 'size' includes them */
  luaN_Kind kind;
  size_t place;		/* number of the object in the order of the walk, from 0 */
  size_t size;		/* bytes of the object and its vectors, as the collector counts them */
  const char *text;	/* text of the object if it is a string, else NULL */
  size_t length;
  /* If the object is a prototype: the string objects with its name and its source, or NULL. */
  const void *name, *source;
  /* If the object is a prototype: first line of the function's definition; 0: a main function. */
  int line;
  /* If the object is a closure: its prototype, or the address of its C function. */
  const void *function;
  int main;		/* 1: the object is the main thread */
} luaN_Object;

typedef struct luaN_Walker {
  void *ud;
  /* Allocates, resizes and frees the memory of the walk, as lua_Alloc does: about 8 to 16 bytes for
     each object. */
  void *(*memory) (void *ud, void *block, size_t old, size_t size);
  /* Called for each object, before its edges. Edges of stacks and edges to values under weak keys
     may come after edges of other objects. Returns 0 to stop the walk. May be NULL. */
  int (*object) (void *ud, const luaN_Object *o);
  /* Called for each edge (reference from one object to another, or from a root). Returns 0 to stop
     the walk. */
  int (*edge) (void *ud, const luaN_Edge *e);
  /* If not NULL, the walk reports a tree, which has only the first edge to each object. 'edge' is
     called for those whose 'place' is LUAN_NOPLACE (from roots and from weak keys); 'done' receives
     the others as parents[]. The tree contains only the strings whose bit in 'strings' is set;
     'strings' has 2^log2 bits, as in luaN_watch. */
  const uint64_t *strings;
  unsigned log2;
  /* Called at the end of a complete walk of n objects. objects[i] is the object at place i. For a
     tree, parents[i] is the place from which object i was reached; it is LUAN_NOPARENT for the
     objects for which 'edge' was called, which are in the order of these calls. Without a tree,
     'parents' is NULL. 'done' may change parents[]. May be NULL. */
  void (*done) (void *ud, const void *const *objects, uint32_t *parents, size_t n);
} luaN_Walker;

#define LUAN_NOPARENT	UINT32_MAX

enum { LUAN_WALKED, LUAN_NOMEMORY, LUAN_STOPPED, LUAN_BUSY };

/*
** Runs a walk. Must not be called from a sampler's functions, except 'closing' and 'collected'.
** Returns
**   - LUAN_WALKED if the walk was complete
**   - LUAN_NOMEMORY if there was too little memory
**   - LUAN_STOPPED if a function returned 0
**   - LUAN_BUSY if the collector is in an inconsistent state or in an emergency: call again later
*/
LUA_API int luaN_walk (lua_State *L, const luaN_Walker *w);

/*
** luaN_object sets *to to the description of an object that a walk has reported. luaN_edges calls
** 'edge' for each edge from the object, until 'edge' returns 0. The edges of a table include the
** LUAN_EWEAKKEY edges from its weak keys. Members 'place' and 'fresh' of the edges have no meaning.
** Both functions may be called only as long as nothing was allocated since the walk.
*/
LUA_API void luaN_object (lua_State *L, const void *object, luaN_Object *to);
LUA_API void luaN_edges (lua_State *L, const void *object,
                         int (*edge) (void *ud, const luaN_Edge *e), void *ud);

/* Returns the bytes in use that belong to no object of a walk: the structs of the state and of its
   main thread, the string table, the cache of luaS_new. */
LUA_API size_t luaN_statebytes (lua_State *L);

/*
** To be called by code that uses lua_Alloc directly (lua_getallocf) and got no memory. Runs a full
** collection without finalizers, returns the heap's free blocks to lua_Alloc, and returns 1: a
** second request may succeed. Returns 0 if no collection is possible now, or the state's limit of
** allocated bytes is used up. Every object in use must be reachable. Not for the functions of a
** luaN_Sampler.
*/
LUA_API int luaN_refused (lua_State *L);

/* Announces that the userdata that gets a finalizer next will be closed explicitly, like the box of
   a luaL_Buffer. It does not count for the number of young objects with finalizers that starts a
   minor collection. */
LUA_API void luaN_willclose (lua_State *L);

/*
** Runs a minor collection, which decides the survival of all samples taken since the last
** collection. (Runs a full collection if the remembered set is incomplete.) Calls no finalizers;
** those of dead objects run after the next collection. Does nothing inside a collection or a
** finalizer, or while the state is created or closed. Must not be called from a sampler's
** functions, except 'closing'.
*/
LUA_API void luaN_collect (lua_State *L);

/* Returns 1 while lua_close takes the state apart: objects created then have no finalizer. */
LUA_API int luaN_isclosing (lua_State *L);

/* Phase of a major collection, between two of its slices. */
typedef enum luaN_Phase {
  LUAN_NOMAJOR, LUAN_MARKING, LUAN_SWEEPING
} luaN_Phase;

/* Kinds of entries that a pause visits in addition to the objects that it finds alive. */
typedef enum luaN_Looked {
  /* Slots and objects that were stored to since the last collection. */
  LUAN_LREMEMBERED,
  LUAN_LSTACKS,	/* slots of stacks */
  LUAN_LWEAK,	/* entries of weak tables */
  /* Entries of the collector's lists: threads, objects with finalizers, large objects. */
  LUAN_LLISTED,
  LUAN_NLOOKED
} luaN_Looked;

/* Bytes and counts of the state's memory; times in nanoseconds. */
typedef struct luaN_Memory {
  uint64_t inuse;	/* bytes in use; collectgarbage "count" returns them in KiB */
  uint64_t held;	/* bytes that the state has reserved: obtained from lua_Alloc or mapped */
  uint64_t allocated;	/* bytes allocated since the state was created, without external bytes */
  /* bytes of all buffers of luaL_Buffer in the state; no other sum includes them */
  uint64_t buffers;
  /* Bytes that were tenured since the state was created, up to the last collection. Most objects
     are tenured by the first collection that they survive, large strings by the third. Growth of
     the vectors, stacks and CallInfos of old objects counts, userdata pending finalization do
     not. */
  uint64_t tenured;
  uint64_t nursery;	/* size of the current nursery in bytes */
  /* Bytes that counted for the start of minor collections (with which nurseries were charged),
     since the state was created. Differences to the allocated bytes: a vector that is moved counts
     as new; large blocks that are freed before the next minor collection are subtracted; large
     strings and userdata may count less (pace.textroom of gc/state.h). */
  uint64_t charged;
  /* Sum of the planned sizes of all nurseries so far, in bytes; of a nursery that was not used up,
     only the bytes that were used. */
  uint64_t planned;
  /* numbers of minor and of major collections since the state was created */
  uint64_t minors, majors;
  /* Duration of the last pause in nanoseconds. A pause is a minor collection with the slice of a
     major one after it, or a full collection, or work on the remembered set before a collection. */
  uint64_t pause;
  uint64_t longest;	/* duration of the longest pause so far, in nanoseconds */
  uint64_t pauses;	/* sum of the durations of all pauses so far, in nanoseconds */
  /* nanoseconds of CLOCK_MONOTONIC at the start of the last pause, or of the running one */
  uint64_t began;
  /* Nanoseconds of CLOCK_THREAD_CPUTIME_ID at the start of the last pause, or of the running one.
     Pauses that started without a sampler do not change it. */
  uint64_t processor;
  /* Nanoseconds of CPU time of the slices of major collections that ran after the minor collection
     of a pause. Slices that started without a sampler do not count. */
  uint64_t slices;
  luaN_Phase phase;	/* phase of the running major collection; LUAN_NOMAJOR: none runs */
  uint64_t outside;	/* external bytes that userdata own at present (luaN_outside) */
  /* Indexed by luaN_Looked: number of entries of that kind that the last pause visited, in addition
     to the objects that it found alive. */
  uint64_t looked[LUAN_NLOOKED];
  /* Number of entries of lists, stacks and weak tables that the last pause visited: the sum of
     looked[] without remembered slots and objects (LUAN_LREMEMBERED). */
  uint64_t work;
  /* the largest number of entries of lists, stacks and weak tables that one pause has visited so
     far */
  uint64_t mostwork;
} luaN_Memory;

/* Sets *m to the present values for the state of L. */
LUA_API void luaN_memory (lua_State *L, luaN_Memory *m);

/*
** Where the state's memory is, in bytes. A chunk consists of blocks of 32 KiB; a block consists of
** a head and of lines of 64 bytes (gc/gc.h, section 1).
**   - held of luaN_Memory = chunks + large + lists + the structs of the state and its main thread
**   - chunks = heads + lines + unused + empty + alignment of blocks + pages returned to the system
** luaN_places reads the heads of all blocks, and calls 'chunk' (may be NULL) for every chunk.
*/
typedef struct luaN_ChunkPlace {
  const void *from;	/* address of the chunk */
  size_t size;		/* bytes of the chunk */
  const void *first;	/* address of the chunk's first block */
  size_t bytes;		/* bytes of all blocks of the chunk */
  int mapped;		/* 1: the chunk is mapped; 0: it comes from lua_Alloc */
} luaN_ChunkPlace;

typedef struct luaN_Places {
  uint64_t inuse;	/* bytes in use; collectgarbage "count" returns them in KiB */
  /* Bytes of the objects that the last major collection found alive; 0: there was none. */
  uint64_t living;
  uint64_t chunks;
  uint64_t lent;	/* bytes of the chunks that came from lua_Alloc */
  uint64_t heads;	/* bytes of the heads of all blocks */
  uint64_t lines;	/* bytes of all lines in use */
  /* Bytes of the free lines in blocks that have lines in use, without the pages returned to the
     system. */
  uint64_t unused;
  /* Bytes of the lines of all blocks that have no line in use, without the pages returned to the
     system. */
  uint64_t empty;
  /* Bytes of the blocks of lua_Alloc that are not chunks: large objects and vectors, and memory
     that the core's own code frees (prototypes, the string table). */
  uint64_t large;
  /* bytes of the lists that the collector keeps, for example of the remembered set */
  uint64_t lists;
} luaN_Places;

LUA_API void luaN_places (lua_State *L, luaN_Places *p,
                          void (*chunk) (void *ud, const luaN_ChunkPlace *c), void *ud);

/* For the block at 'object', an address in a chunk, sets *used to the bytes of its lines in use,
   and *unused to the bytes of its free lines, without pages returned to the system. */
LUA_API void luaN_beside (lua_State *L, const void *object, uint64_t *used, uint64_t *unused);

/* The allocator of luaL_newstate's states: realloc and free. While a state has this allocator, new
   chunks of its heap are mapped, unless the heap is small. */
LUA_API void *luaN_alloc (void *ud, void *ptr, size_t osize, size_t nsize);

/* Evaluates to luaN_alloc; (void)(f) only prevents a warning that f is unused. */
#define luaN_allocator(f)	((void)(f), luaN_alloc)

/* As the argument of luaN_setnursery: change nothing. As its result: nothing could be changed. */
#define LUAN_ASK	UINT64_MAX

/* Sets the bytes from one minor collection to the next, unless LUA_GC sets them. 0: the collector
   chooses; LUAN_ASK: no change. Returns the previous setting. While a finalizer runs or the state
   is created or closed, changes nothing and returns LUAN_ASK. */
LUA_API uint64_t luaN_setnursery (lua_State *L, uint64_t n);

/* One frame of a Lua stack. After the frames of a coroutine come those of the thread that resumed
   it. */
typedef struct luaN_Frame {
  lua_State *L;		/* the thread that the frame belongs to */
  void *ci;		/* the frame's CallInfo, for the field i_ci of lua_Debug */
  /* Prototype of the frame's Lua function, or address of its C function; NULL: not known. */
  const void *function;
  /* Number of the frame's prototype, 0 at first, which the sampler may set; NULL for a C
     function. */
  unsigned int *id;
  /* index of the instruction that the frame runs, in its function; 0 for a C function */
  int pc;
  unsigned char fresh;	/* not 0: a call of luaV_execute started with this frame */
  unsigned char last;	/* 1: the frame is the outermost one of its thread */
  unsigned char hooked;	/* not 0: a hook of this frame is running */
  unsigned char resumable;  /* 1: the frame of a C function that may have a continuation */
  /* 0: the next frame is the caller of this one. Else the bits LUAN_CUT and LUAN_TAIL, which say
     why it is not the caller. */
  unsigned char cut;
} luaN_Frame;

/* Bits of luaN_Frame.cut. */
enum {
  LUAN_CUT = 1,		/* frames between this frame and the next are left out */
  LUAN_TAIL = 32	/* a tail call has replaced the caller; Lua functions only */
};

/* Returns the thread that runs when the core is called with L. That may be another thread than L,
   because C code may pass any thread of the state. */
LUA_API lua_State *luaN_running (lua_State *L);

/* Largest number of frames that luaN_frames writes; and how many of them are the innermost ones, if
   a stack has more frames. */
#define LUAN_DEPTH	1536u
#define LUAN_INNER	1024u

/* Writes the running stack of L, innermost frame first, and returns the number of frames. Of more
   than LUAN_DEPTH frames, writes the LUAN_INNER innermost and the LUAN_DEPTH - LUAN_INNER
   outermost ones. */
LUA_API size_t luaN_frames (lua_State *L, luaN_Frame frames[LUAN_DEPTH]);

/*
** Writes the frames of L's running stack that may have changed since the previous call of this
** function, for a caller that walks repeatedly. 'known' has the 'ci' of n frames of the main thread
** that the previous call has reported, innermost first; outer frames may be left out.
**
** Writes frames up to and including the innermost Lua frame in 'known' that still runs, and sets
** '*shared' to its index in 'known'. Of that frame, the pc may have changed and, by a tail call,
** the function. The frames outside it have not run since the previous call, and neither has the C
** code that called it. If there is no such frame, or more than LUAN_DEPTH frames would be written,
** sets '*shared' to n and writes all frames, as luaN_frames.
**
** Always writes the frames of coroutines, which may have been left and entered again without their
** C code.
*/
LUA_API size_t luaN_newframes (lua_State *L, luaN_Frame frames[LUAN_DEPTH],
                               void *const *known, size_t n, size_t *shared);

/* coroutine.yield, which the bytecode loop recognizes by its address (calls.h). */
LUA_API int luaN_yield (lua_State *L);

/*
** Sets the external bytes of the full userdata at 'idx' to n (0: none): memory of a library, or a
** cost of a resource (the io library uses LUAN_FILE for an open file). External bytes pace the
** collector, and are subtracted when the dead userdata is swept. luaN_memory returns their sum over
** all userdata; bytes beyond LUAN_MOSTOUTSIDE are ignored.
**
** Samples count external bytes as allocated at this call, with kind LUAN_KOUTSIDE, rounded up to
** units of LUAN_UNIT bytes: only growth above the largest n since n was last 0, and fewer than 2^32
** units. If n is 0, 'freed' is called for watched external bytes.
**
** The call is a hint, which is lost if there is no memory to record it. May collect and call
** finalizers, like an allocation; raises no error. Not for the functions of a luaN_Sampler. To be
** called after the userdata got its metatable. A C module that must also run with upstream's Lua
** declares '#pragma weak luaN_outside' and tests whether the function exists.
*/
LUA_API void luaN_outside (lua_State *L, int idx, size_t n);

#define LUAN_FILE	((size_t)32 * 1024)
#define LUAN_UNIT	((size_t)64)
#define LUAN_MOSTOUTSIDE  (~(size_t)0 >> 4)

/* Returns 1 while lua_Alloc runs on this OS thread for the heap of a state, so that a sampler of
   malloc can leave out that memory, which the state's own samples cover. Else returns 0. */
LUA_API int luaN_isallocating (void);

/* The label of a thread is a number that the sampler's owner sets. A new thread has the label of
   its creator, a new state's main thread has 0; only luaN_setlabel changes a label. */
LUA_API unsigned luaN_label (lua_State *L);
LUA_API void luaN_setlabel (lua_State *L, unsigned label);

/* number of elements of luaN_Labels.recent, a cache of addresses; a power of 2 */
#define LUAN_RECENTLABELS	16

/*
** An account of the bytes allocated with each label. At each change of the running thread's label,
** the core adds the bytes allocated since the previous change to the sum of the previous label. The
** label changes by luaN_setlabel, and where a coroutine with another label is resumed, yields or
** ends. A thread that a host calls without lua_resume has the label of the coroutine that was
** resumed last, or of the main thread. Another OS thread may read the sums.
*/
typedef struct luaN_Labels {
  /* bytes that the state had allocated (luaN_allocated) when the label last changed */
  uint64_t from;
  uint64_t *bytes;	/* address of the sum of the bytes allocated with the present label */
  unsigned label;	/* the label of the running thread */
  /* Returns the address of the sum of the bytes allocated with 'label'. The address must be valid
     as long as the account exists. May add the address to the cache 'recent'. Must not use the
     state. */
  uint64_t *(*find) (struct luaN_Labels *labels, unsigned label);
  /* Cache of the addresses of the sums of recent labels: the element for a label has the label
     modulo LUAN_RECENTLABELS as its index. An unused element has a label that belongs to another
     index. */
  struct {
    uint64_t *bytes;
    unsigned label;
  } recent[LUAN_RECENTLABELS];
} luaN_Labels;

/* Sets the state's account of the bytes allocated with each label. The account belongs to the
   caller and must exist until another one is set; NULL: none. The caller must have set 'from',
   'bytes' and 'label' to the present values. */
LUA_API void luaN_setlabels (lua_State *L, luaN_Labels *to);

/* Returns 1 if L is the state's main thread. */
LUA_API int luaN_ismain (lua_State *L);

/* Returns the line of instruction 'pc' of a prototype; 0 if the line is not known. */
LUA_API int luaN_line (const void *proto, int pc);

/*
** Returns the name that a function has by its definition, that is, the name of the variable or
** field in which it is stored, and sets '*length' to the bytes of the name.
**
** Returns NULL for a function without a name, and sets '*length' to its number, from 1 to 65,535,
** among those that start in the same line. Returns NULL for a main function, and sets '*length' to
** 0.
*/
LUA_API const char *luaN_name (const void *proto, size_t *length);

/* A tick: an instant of which a time sample is taken, recorded by a signal handler. */
typedef struct luaN_Moment {
  lua_State *L;		/* the thread that ran at the tick */
  /* Innermost frame of the thread at the tick, as 'ci' of luaN_Frame; NULL: the thread had no
     frame. */
  void *ci;
  unsigned label;	/* label of the thread at the tick (luaN_label) */
  /* kind of the collection that ran at the tick: LUAN_MINOR or LUAN_MAJOR; 0: none ran */
  int collecting;
} luaN_Moment;

enum { LUAN_MINOR = 1, LUAN_MAJOR = 2 };

/* The machine's registers when the signal arrived. */
typedef struct luaN_Registers {
  const char *ip;	/* address of the machine instruction that the signal interrupted */
  /* values of the machine's general registers when the signal arrived, in any order; may be none */
  const uintptr_t *r;
  /* number of general registers of the machine in r[] */
  unsigned n;
} luaN_Registers;

/*
** Records a tick in 'm' and requests a call of the sampler's 'point':
**   - before the next VM instruction, if a Lua function was running
**   - when a running C function calls another or ends
**   - at the end of a running collection
** Returns 1. Returns 0, and records nothing, if the state's last protected call was on another OS
** thread. L is any thread of the state. Async-signal-safe.
*/
LUA_API int luaN_interrupt (lua_State *L, const luaN_Registers *r,
                            luaN_Moment *m);

/* Returns the number of VM instructions in the life of the state before which a safepoint ran
   because of a tick (diverted instructions, tick.h): at most one for each tick. */
LUA_API uint64_t luaN_diversions (lua_State *L);

/* Address ranges of the core's code, for walks of the C stack. 'execute' is the bytecode loop,
   'resume' runs a coroutine for lua_resume, 'protect' runs a protected call, 'core' is the rest. A
   range includes 'from' and excludes 'to'. */
typedef struct luaN_Range {
  const char *from, *to;
} luaN_Range;

typedef struct luaN_Code {
  luaN_Range core, execute, resume, protect;
} luaN_Code;

/* Sets *c to the address ranges of the core's code. */
LUA_API void luaN_code (luaN_Code *c);

/*
** A running call of luaD_rawrunprotected, for example for lua_pcall or lua_resume. The running
** calls of an OS thread are linked from the innermost outwards, whatever their states. Each has one
** frame in the C stack whose code is in the range luaN_Code.protect, and 'outer' is an address in
** that frame. Code that follows the links must check each address first, because a program that
** switches C stacks may abandon frames.
*/
typedef struct luaN_Protected {
  /* the protected call that contains this one; NULL: there is none */
  const struct luaN_Protected *outer;
  const lua_State *L;	/* main thread of the state to which the protected call belongs */
  int mixed;		/* 1: this protected call runs inside a protected call of another state */
} luaN_Protected;

/* Returns the innermost protected call of this OS thread; its L is NULL if there is none.
   Async-signal-safe. */
LUA_API luaN_Protected luaN_protected (void);

/* Returns the main thread of the state of L. */
LUA_API lua_State *luaN_main (lua_State *L);

/* Checks the invariants of the heap and the collector (luaN_verify of verify.h). Returns NULL if
   they hold, else a line that names the first violated invariant. Walks all reachable objects, with
   memory from malloc. */
LUA_API const char *luaN_check (lua_State *L);

#endif
