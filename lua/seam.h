/* SPDX-License-Identifier: MIT */
/*
** The seam: the interface of this Lua for C code such as a profiler, in addition to Lua's own API.
** The core calls a sampler through the function pointers of luaN_Sampler, and depends on no
** profiler.
**
** Unless stated otherwise, a function may be called wherever the Lua API may be, also from the
** functions of a luaN_Sampler; it does not allocate, run the collector or raise an error.
*/
#ifndef luaN_seam_h
#define luaN_seam_h

#include <stddef.h>
#include <stdint.h>

#include "lua.h"

/* version of the interface between core and sampler */
#define LUAN_SEAM	15

/* kinds of memory blocks */
typedef enum luaN_Kind {
  LUAN_KTABLE, LUAN_KARRAY, LUAN_KHASH, LUAN_KSTRING, LUAN_KLCLOSURE,
  LUAN_KCCLOSURE, LUAN_KUPVALUE, LUAN_KUSERDATA, LUAN_KTHREAD, LUAN_KSTACK,
  LUAN_KPROTO, LUAN_KBUFFER, LUAN_KOUTSIDE
} luaN_Kind;

/* A sample: the block whose allocation or growth has made the sample due. */
typedef struct luaN_Sample {
  /* Address of the block; its new bytes may be uninitialized. For LUAN_KOUTSIDE: an address that
     represents the external bytes of the owner (memory outside the heap). */
  const void *block;
  /* The object to which the block belongs: the block itself if it is an object; the table, thread
     or other object if the block is one of its vectors. NULL for a buffer, and for a vector of a
     prototype. */
  const void *owner;
  /* Bytes of the block, rounded up to 8. For LUAN_KOUTSIDE: the external bytes that this call of
     luaN_outside has added. */
  uint64_t size;
  luaN_Kind kind;
  /* 1: the block is outside the hole, the run of free memory in which most blocks are allocated at
     present; for example, a large block */
  int outside;
  /* bytes of the field 'size' that rounding has added, if the block is an object */
  unsigned rounding;
} luaN_Sample;

/*
** A sampler. Its functions run inside an allocation, a free, a collection or a safepoint, where the
** heap may be inconsistent. They must not raise, allocate from the state, or call the Lua API.
** Exceptions: lua_getstack, and lua_getinfo with 'S', 'n' and 'l' (also for frames of luaN_frames).
** The debug build ends the process at a forbidden call, except at one in the function 'closing',
** which it does not check.
*/
typedef struct luaN_Sampler {
  void *ud;
  /* Called for a block whose allocation has made a sample due. The sample point is the byte of the
     block at which the sample was due; 'over' is the number of bytes of the block after the sample
     point. Returns the distance from the end of the block to the next sample, at least 1 byte. */
  uint64_t (*sample) (void *ud, lua_State *L, const luaN_Sample *s,
                      uint64_t over);
  /* Called when a collection has decided which objects are dead, so that luaN_isdead may be called
     for the objects of which samples were taken. Dead objects are still intact. major: 1 in a major
     or full collection. */
  void (*decide) (void *ud, lua_State *L, int major);
  /* Called at the end of the pause of each minor or full collection. The pause has called 'decide'
     once, or twice if a slice of a major collection ran in it and ended the marking of that
     collection. No sample was taken after the last call of 'decide'. luaN_Memory has the time at
     which the pause started. */
  void (*collected) (void *ud, lua_State *L);
  /* Called for a watched block. Also called for an unwatched block that has the same bit as a
     watched block in the bit set of luaN_watch (luaN_watchbit). The events are:
     - the block is freed and is not an object
     - luaN_outside sets the external bytes of a userdata to 0
     - after 'decide', a minor collection has found the block dead, and it is a young string or
       userdata of more than 512 bytes, or a userdata that was left young for its finalizer */
  void (*freed) (void *ud, lua_State *L, const void *block);
  /* Called when a watched block (luaN_watch) of 'before' bytes at 'from' was resized to 'after'
     bytes at 'to'. If the block was not moved, both addresses are equal. Exception: not called when
     an array of at most 8192 bytes grows without being moved. 'sample' may be called for the new
     bytes before or after this call. If the block was moved, 'freed' may be called for the address
     'from' after this call. */
  void (*resized) (void *ud, lua_State *L, const void *from, const void *to,
                   uint64_t before, uint64_t after);
  /* Called at a safepoint, to take the samples of the ticks that luaN_interrupt has recorded; there
     may be no such tick. Since a tick, some frames that were active then may have returned, and
     frames of other functions may have been added to the stack. */
  void (*point) (void *ud, lua_State *L);
  /* Called when lua_close starts. The state is complete, and collections are possible. */
  void (*closing) (void *ud, lua_State *L);
  /* Called when growth of a table or luaL_Buffer has moved n bytes and a sample of moved bytes is
     due. May be NULL. 'over' is the number of bytes moved after the sample was due. Returns the
     number of bytes to move until the next sample, at least 1; UINT64_MAX: no more samples.
     luaN_setcopies sets the first such number. */
  uint64_t (*copied) (void *ud, lua_State *L, size_t n, uint64_t over);
  /* Called before the core raises a memory error, unless a limit (luaN_setlimits) has refused the
     memory. Not called before memory errors that lauxlib.c raises. */
  void (*starved) (void *ud, lua_State *L);
  /* Called when a protected call (lua_pcall, lua_resume) ends, unless it was made directly inside
     another one of the same state. May be NULL. */
  void (*returned) (void *ud, lua_State *L);
} luaN_Sampler;

/* Sets the state's sampler, which must exist until another is set, and the distance in bytes to the
   first sample, at least 1. NULL removes the sampler. The new sampler has no watched blocks
   (luaN_watch) and no samples of moved bytes (luaN_setcopies) at first. */
LUA_API void luaN_setsampler (lua_State *L, const luaN_Sampler *s,
                              uint64_t distance);
/* Returns the state's sampler, or NULL. */
LUA_API const luaN_Sampler *luaN_getsampler (lua_State *L);

/* Returns the bytes to allocate until the next sample; UINT64_MAX without a sampler. */
LUA_API uint64_t luaN_distance (lua_State *L);

/* Sets the bytes, at least 1, to allocate until the next sample. Does nothing without a sampler. */
LUA_API void luaN_setdistance (lua_State *L, uint64_t distance);

/* Returns how many bytes were allocated in the life of the state, plus the growth of the external
   bytes of userdata (luaN_outside). Samples count the same bytes. */
LUA_API uint64_t luaN_allocated (lua_State *L);

/* Sets the number of bytes to move until the next sample of moved bytes ('copied'). Bytes count as
   moved if a hash part, a moved array or a luaL_Buffer grows. UINT64_MAX, which luaN_setsampler
   sets: no such samples. */
LUA_API void luaN_setcopies (lua_State *L, uint64_t distance);

/* number of kinds */
#define LUAN_KINDS	((int)LUAN_KOUTSIDE + 1)

/*
** Exact counts of allocated memory by kind. 'blocks' counts allocations and growths, 'bytes' the
** bytes that they have added. LUAN_KSTACK: CallInfos and growth of stacks; the first stack of a
** coroutine counts as LUAN_KTHREAD.
*/
typedef struct luaN_Counts {
  uint64_t bytes[LUAN_KINDS];
  uint64_t blocks[LUAN_KINDS];
} luaN_Counts;

/*
** Counts all allocations of the state in *to from now on. *to belongs to the caller, and must exist
** until the next call. NULL: the counting stops. Makes all allocations slow. The functions of a
** luaN_Sampler must not call it.
*/
LUA_API void luaN_setcounts (lua_State *L, luaN_Counts *to);

/*
** Limits for untrusted programs. An allocation that would exceed a limit fails with LUA_ERRMEM and
** the limit's message, as if lua_Alloc had refused it. Limits stay in effect after the error.
**
** Memory that C code takes from malloc does not count. A luaL_Buffer is refused if an allocation of
** its size would exceed a limit, or if all buffers together would exceed 'buffers'.
*/
typedef struct luaN_Limits {
  /* Largest number of bytes allocated in the life of the state; UINT64_MAX: no limit. */
  uint64_t allocated;
  /* Largest number of bytes in use; UINT64_MAX: no limit. Before a refusal, a full collection
     without finalizers runs if possible. */
  uint64_t inuse;
  /* Largest number of bytes of all luaL_Buffers together; UINT64_MAX: no limit. */
  uint64_t buffers;
  /* Messages of the three limits: addresses of string objects (lua_topointer). The caller must keep
     the strings alive while the limits are set. */
  const void *whyallocated, *whyinuse, *whybuffers;
} luaN_Limits;

/* Sets the state's limits; NULL removes them. The struct must exist until other limits are set.
   When a protected call ends, the limits that were set when it started are in effect again.
   lua_close removes the limits. The functions of a luaN_Sampler must not call it. */
LUA_API void luaN_setlimits (lua_State *L, const luaN_Limits *limits);
/* Returns the state's limits, or NULL. */
LUA_API const luaN_Limits *luaN_getlimits (lua_State *L);

/* Counts a luaL_Buffer that is about to change from 'before' to n bytes; for lauxlib.c. May
   collect. Raises the memory error if the buffer would exceed a limit (luaN_setlimits). The
   functions of a luaN_Sampler must not call it. */
LUA_API void luaN_admit (lua_State *L, size_t before, size_t n);

/* Counts n bytes as moved (for 'copied' of luaN_Sampler), because a luaL_Buffer of n bytes has
   grown; for lauxlib.c. */
LUA_API void luaN_grown (lua_State *L, size_t n);

/* To be called in the sampler's 'sample', for a string. Returns the bytes of the operands that the
   string replaces: the running instruction concatenates, and its result is stored in the variable
   or field of an operand, as in s = s .. x. Returns 0 in all other cases. */
LUA_API size_t luaN_replaced (lua_State *L);

/* bytes of a string's block that are not text: header and NUL */
#define LUAN_STRINGHEAD	17u

/*
** Selects the watched blocks, those for which 'freed' and 'resized' are called: the blocks whose
** bit (luaN_watchbit) is set in the bit set 'bits'. It has 2^log2 bits, log2 from 6 to 32. The
** caller owns it, and may change its bits at any time. NULL: no blocks.
*/
LUA_API void luaN_watch (lua_State *L, const uint64_t *bits, unsigned log2);

/* Returns the number of the bit that represents a block in a bit set of 2^log2 bits
   (luaN_watch). */
static inline unsigned luaN_watchbit (const void *block, unsigned log2) {
  return (uint32_t)((uintptr_t)block >> 3) * 2654435769u >> (32 - log2);
}

/* Returns 1 if the running collection has found the object 'owner' dead. To be called only in the
   sampler's 'decide'. After the result 1, must not be called for this owner in a later 'decide',
   because the object is freed before that. */
LUA_API int luaN_isdead (lua_State *L, const void *owner);

/* luaN_metatable, luaN_field and luaN_next read a table (luaN_metatable also a userdata) by its
   address. In the sampler's 'decide', the object may have died in the running collection, because
   dead objects are still intact. At other times it must be reachable, and the caller must be on the
   state's OS thread. Results are valid until 'decide' returns, or until the state runs. */

/* Returns the metatable of a table or userdata; NULL if it has none, and for other types. */
LUA_API const void *luaN_metatable (lua_State *L, const void *owner);

/* An entry of a table. */
typedef struct luaN_Entry {
  /* Text of the key. NULL if the key is not a string. Also NULL after a call of luaN_next that has
     found a value of another type than table and function. */
  const char *key;
  /* bytes of the key's text; 0 if 'key' is NULL */
  size_t keylength;
  const char *string;	/* text of the value; NULL: not a string */
  /* bytes of the value's text; 0 if 'string' is NULL */
  size_t length;
  const void *table;	/* the value if it is a table, else NULL */
  const void *function;	/* address of the value's C function, else NULL */
} luaN_Entry;

/* Sets *e to the entry of a table whose key is the string 'key'. The string must have at most 40
   bytes, because only short strings are found. Calls no metamethod. Returns 0 if the table has no
   such entry, or if the entry's weak value is tombstoned: during a major collection, its slot looks
   empty (mark/hidden.h). */
LUA_API int luaN_field (lua_State *L, const void *table, const char *key,
                        luaN_Entry *e);

/* Sets *e to the entry of node *i of a table's hash part, and increments *i. Returns 0 after the
   last node. If the value is neither a table nor a function, all members of *e are NULL or 0;
   e->string is always NULL. */
LUA_API int luaN_next (lua_State *L, const void *table, size_t *i,
                       luaN_Entry *e);

/* Returns the address of the registry table. */
LUA_API const void *luaN_registry (lua_State *L);

/* Returns the table of globals; NULL if the program has removed it. */
LUA_API const void *luaN_globals (lua_State *L);

/*
** A walk over all objects that a full collection would keep, and over the references between them
** (edges). The walk changes no weak table and no count of the collector, and runs no finalizer.
**
** It is breadth first: the first edge to an object ends a shortest path. Objects that are reachable
** only from stacks come after all others; dead objects that are kept for their finalizers come
** last.
*/
typedef enum luaN_EdgeKind {
  /* an edge from a root; 'index' is a luaN_Root, 'from' is NULL */
  LUAN_EROOT,
  LUAN_EMETATABLE,
  LUAN_EINDEX,		/* the value t[index] of a table t, for an integer 'index' */
  /* The value t[key] of a table t, for a string 'key'. The edge LUAN_EKEY from t to the key is
     reported directly before this one. */
  LUAN_EFIELD,
  /* The value t[key] of a table t, for a key that is neither a string nor an integer. 'key' is NULL
     if the key is weak, or is not an object (a boolean, for example). */
  LUAN_EENTRY,
  LUAN_EKEY,		/* a key that its table keeps alive: a string or a strong key */
  /* the value t[k] of a table t with weak keys: 'from' is k, 'in' is t */
  LUAN_EWEAKKEY,
  /* Upvalue number 'index' (from 1) of a closure. 'key': the upvalue's name, or NULL. 'in': the
     prototype; NULL for a C function, whose address is 'code'. */
  LUAN_EUPVALUE,
  LUAN_EVALUE,		/* the value of an upvalue: 'from' is the upvalue object */
  LUAN_EUSERVALUE,	/* user value number 'index' (from 1) of a userdata */
  LUAN_ELOCAL,		/* a local variable of a thread: 'key' is its name, 'in' the prototype,
                           'index' (from 1) its slot in the frame */
  /* Slot 'index' of a call in a thread: 0 is the function; extra arguments have negative indexes.
     'in': the prototype; NULL for a C function, whose address is 'code'. 'in' and 'code' are NULL
     for a slot outside calls. */
  LUAN_ESTACK,
  LUAN_EOPEN,		/* an open upvalue of a thread */
  LUAN_EPROTO,		/* the prototype of a closure, or of an inner function of a prototype */
  LUAN_ECONSTANT,	/* constant number 'index' (from 1) of a prototype */
  LUAN_ENAME		/* name of a function or variable, or source of a chunk */
} luaN_EdgeKind;

/* Roots of a walk, in this order: the registry; the main and the running thread; the pinned closure
   (luaN_pin); objects that are never freed; objects queued for their finalizers; metatables. */
typedef enum luaN_Root {
  LUAN_RREGISTRY, LUAN_RTHREAD, LUAN_RPINNED, LUAN_RFIXED, LUAN_RFINALIZER,
  LUAN_RTYPE = 16	/* LUAN_RTYPE + t: the metatable of basic type t (LUA_TNIL, ...) */
} luaN_Root;

#define LUAN_NOPLACE	((size_t)-1)

typedef struct luaN_Edge {
  luaN_EdgeKind kind;
  int fresh;		/* 1: the first edge of the walk to the object 'to' */
  const void *from, *to;
  /* Position of the object 'from' in the order of the walk (luaN_Object.place); LUAN_NOPLACE if
     'from' is NULL or a weak key. In a walk that reports a tree: position of the object 'to'. */
  size_t place;
  /* The meaning of 'key', 'in' and 'index' depends on the kind of the edge (luaN_EdgeKind). */
  const void *key, *in;
  /* For an edge from an upvalue or stack slot of a C function (luaN_EdgeKind): the address of the C
     function. NULL for all other edges. */
  const void *code;
  long long index;
} luaN_Edge;

typedef struct luaN_Object {
  const void *object;
  /* kind of the object; its vectors are not reported, but included in 'size' */
  luaN_Kind kind;
  size_t place;		/* number of the object in the order of the walk, from 0 */
  size_t size;		/* bytes of the object and its vectors, as the collector counts them */
  const char *text;	/* text of a string, else NULL */
  size_t length;	/* bytes of the text of a string */
  /* of a prototype: string objects with its name and source, or NULL */
  const void *name, *source;
  /* of a prototype: first line of the definition; 0: a main function */
  int line;
  /* of a Lua closure: its prototype; of a C closure: the address of its function */
  const void *function;
  int main;		/* 1: the main thread */
} luaN_Object;

typedef struct luaN_Walker {
  void *ud;
  /* Allocates, resizes and frees memory of the walk, like lua_Alloc. The walk needs 8 to 16 bytes
     for each object. */
  void *(*memory) (void *ud, void *block, size_t old, size_t size);
  /* Called for each object, before the edges from it. Returns 0 to stop the walk. May be NULL. The
     edges from an object are reported before the next object, with two exceptions: the edges from a
     stack, and those from a weak key to its values, may be reported later. */
  int (*object) (void *ud, const luaN_Object *o);
  /* Called for each edge. Returns 0 to stop the walk. */
  int (*edge) (void *ud, const luaN_Edge *e);
  /* NULL: the walk passes all edges to 'edge'. Otherwise the walk reports a tree, which contains
     only the first edge to each object, and 'wanted' is a bit set. Each object has a bit in it
     (luaN_watchbit). The tree omits the strings whose bit is 0, and contains objects of all other
     types, whatever their bits are. If an edge of the tree is from a root, or from a weak key to
     its value, the walk passes it to 'edge'. It passes the other edges of the tree to 'done' when
     it ends, in the array parents[]. */
  const uint64_t *wanted;
  unsigned log2;	/* the bit set 'wanted' has 2^log2 bits */
  /* In a walk that reports a tree: called for each object whose bit in 'wanted' is set. place:
     position of the object in the order of the walk. kind: kind of the edge by which the object was
     reached; LUAN_EENTRY for all keys and values in the hash part of a strong table. Returns 0 if
     the client needs no further object: the walk then ends, and the tree is complete. */
  int (*found) (void *ud, const void *object, size_t place, luaN_EdgeKind kind);
  /* Called at the end of a complete walk of n objects, unless NULL. It may change parents[].
     objects  the objects in the order of the walk
     parents  NULL if the walk reports all edges. If it reports a tree, parents[i] is the index
              of the object from which objects[i] was reached first; LUAN_NOPARENT if there is
              none ('edge' was called for objects[i]) */
  void (*done) (void *ud, const void *const *objects, uint32_t *parents, size_t n);
} luaN_Walker;

#define LUAN_NOPARENT	UINT32_MAX

enum { LUAN_WALKED, LUAN_NOMEMORY, LUAN_STOPPED, LUAN_BUSY };

/*
** Runs a walk. The functions of a sampler must not call it, except 'closing' and 'collected'.
** Returns
**   LUAN_WALKED    complete
**   LUAN_NOMEMORY  too little memory
**   LUAN_STOPPED   'object' or 'edge' returned 0
**   LUAN_BUSY      a collection is running, or no collection may start: call again later
*/
LUA_API int luaN_walk (lua_State *L, const luaN_Walker *w);

/*
** Sets *to to the description of an object that a walk has reported. Nothing may be allocated
** between the walk and this call.
*/
LUA_API void luaN_object (lua_State *L, const void *object, luaN_Object *to);

/* Calls 'edge' for each reference from 'object', which a walk has reported. If the object is a
   table with weak keys, also reports the edges from these keys to their values. Stops when 'edge'
   returns 0. The caller must ignore 'place' and 'fresh' of the edges. Nothing may be allocated
   between the walk and this call. */
LUA_API void luaN_edges (lua_State *L, const void *object,
                         int (*edge) (void *ud, const luaN_Edge *e), void *ud);

/* Returns the bytes in use that belong to no object: the structs of the state, the string table,
   the cache of luaS_new. */
LUA_API size_t luaN_statebytes (lua_State *L);

/*
** For code that calls lua_Alloc directly, when lua_Alloc has refused memory. Runs a full collection
** without finalizers, and returns free blocks to lua_Alloc. Returns 1 if a second request may
** succeed, else 0. Every object in use must be reachable. The functions of a luaN_Sampler must not
** call it.
*/
LUA_API int luaN_refused (lua_State *L);

/* Announces that the program will explicitly close the next userdata that gets a finalizer. A minor
   collection becomes due when many young objects have finalizers; this userdata does not count
   among them. */
LUA_API void luaN_willclose (lua_State *L);

/*
** Runs a minor collection without finalizers, so that the sampler's 'decide' finds out which
** sampled objects are dead. Runs a full collection if the remembered set is incomplete. Does
** nothing inside a collection or finalizer, or while the state is created or closed. Of a sampler's
** functions, only 'closing' may call it.
*/
LUA_API void luaN_collect (lua_State *L);

/* Returns 1 while lua_close frees the state. New objects get no finalizer during this time. */
LUA_API int luaN_isclosing (lua_State *L);

/* phase of the major collection at present, between two of its slices */
typedef enum luaN_Phase {
  LUAN_NOMAJOR, LUAN_MARKING, LUAN_SWEEPING
} luaN_Phase;

/* Kinds of entries (slots, and elements of lists) that a pause visits in addition to live
   objects. */
typedef enum luaN_Looked {
  /* slots and objects that were stored into since the last collection */
  LUAN_LREMEMBERED,
  LUAN_LSTACKS,	/* slots and CallInfos of stacks */
  LUAN_LWEAK,	/* entries of weak tables */
  /* entries of the lists that the sweep visits one by one, such as those of threads, objects with
     finalizers, and large objects */
  LUAN_LLISTED,
  LUAN_NLOOKED
} luaN_Looked;

/* Bytes and counts of the state's memory; times in nanoseconds. */
typedef struct luaN_Memory {
  uint64_t inuse;	/* bytes in use, which collectgarbage "count" returns in KiB */
  uint64_t held;	/* bytes that the state has reserved: obtained from lua_Alloc or mapped */
  uint64_t allocated;	/* bytes allocated in the life of the state, without the external bytes
                           of userdata */
  /* bytes of all luaL_Buffers; no other field includes them */
  uint64_t buffers;
  /* Bytes that became old in the life of the state, up to the last collection. Includes the growth
     of vectors and stacks of old objects. */
  uint64_t tenured;
  uint64_t nursery;	/* size of the current nursery, in bytes */
  /* Bytes charged to nurseries in the life of the state. A minor collection is due when the bytes
     charged to a nursery exceed its size. The charged bytes of a block may differ from its
     allocated bytes: a vector that was moved is charged with all its bytes, a large block that is
     freed early with none, and a large string or userdata may be charged with less than its
     size. */
  uint64_t charged;
  /* Sum of one number for each nursery in the life of the state: the smaller of its size, as
     computed at its start, and the bytes charged to it (field 'charged'). */
  uint64_t planned;
  /* numbers of collections in the life of the state */
  uint64_t minors, majors;
  /* Duration of the last pause, which was one of these: a minor collection with a slice of a major
     one, a full collection, or early work on the remembered set. */
  uint64_t pause;
  uint64_t longest;	/* the longest pause */
  uint64_t pauses;	/* sum of all pauses */
  /* CLOCK_MONOTONIC at the start of the running pause; if none is running, of the last one */
  uint64_t began;
  /* CPU time (the result of luaN_processor) at the start of the last pause during which a sampler
     was set; this pause may still be running */
  uint64_t processor;
  /* CPU time of all slices of major collections in the life of the state; a slice counts only if
     the state had a sampler */
  uint64_t slices;
  luaN_Phase phase;	/* LUAN_NOMAJOR: no major collection runs */
  uint64_t outside;	/* external bytes that userdata own (luaN_outside) */
  /* entries of each kind (luaN_Looked) that the last pause has visited */
  uint64_t looked[LUAN_NLOOKED];
  /* number of entries that the last pause has visited: the sum of looked[] without
     looked[LUAN_LREMEMBERED] */
  uint64_t work;
  /* largest value that 'work' has had in the life of the state */
  uint64_t mostwork;
} luaN_Memory;

/* Sets *m to the present values of the state. */
LUA_API void luaN_memory (lua_State *L, luaN_Memory *m);

/* Returns the CPU time of the calling OS thread in nanoseconds. 'now' is the time of
   CLOCK_MONOTONIC in nanoseconds; if it is 0, this call and the next one read the CPU clock.

   Other calls read the CPU clock at most every LUAN_REUSED ns, because this is a system call, which
   takes microseconds in virtual machines. In between, a call adds the time that has passed since
   the last reading, as if the thread had always run. So the result is at most LUAN_REUSED ns too
   high, and never too low. It does not decrease on a thread, except after a fork. Not
   async-signal-safe. */
#define LUAN_REUSED	UINT64_C(2000000)
LUA_API uint64_t luaN_processor (uint64_t now);

/* Description of a chunk: a part of the heap that has one or more blocks. A block has 32 KiB: a
   head, and lines of 64 bytes (gc/gc.h, section 1). */
typedef struct luaN_ChunkPlace {
  const void *from;	/* address of the chunk */
  size_t size;		/* bytes of the chunk */
  const void *first;	/* address of the chunk's first block */
  size_t bytes;		/* bytes of all its blocks */
  int mapped;		/* 1: from mmap; 0: from lua_Alloc */
} luaN_ChunkPlace;

/*
** Where the state's memory is, in bytes:
** - 'held' of luaN_Memory = chunks + large + lists + the structs of the state and its main thread
** - chunks = heads + lines + unused + empty + alignment of blocks + pages returned to the system
*/
typedef struct luaN_Places {
  uint64_t inuse;	/* bytes in use, which collectgarbage "count" returns in KiB */
  /* bytes that the last major collection found alive; 0: no major collection has run yet */
  uint64_t living;
  uint64_t chunks;	/* bytes of all chunks (luaN_ChunkPlace) */
  uint64_t lent;	/* bytes of the chunks that come from lua_Alloc */
  uint64_t heads;	/* bytes of the heads of all blocks */
  uint64_t lines;	/* bytes of the lines in use */
  /* bytes of the free lines in blocks with lines in use; pages returned to the system do not
     count */
  uint64_t unused;
  /* bytes of the lines in blocks without a line in use; pages returned to the system do not
     count */
  uint64_t empty;
  /* bytes of the memory from lua_Alloc that is not part of a chunk: large objects, large vectors,
     and memory that the core frees explicitly */
  uint64_t large;
  /* bytes of the collector's lists, such as the remembered set */
  uint64_t lists;
} luaN_Places;

/* Sets *p to the present values of the state. Calls 'chunk', unless NULL, with 'ud' and the
   description of each chunk. */
LUA_API void luaN_places (lua_State *L, luaN_Places *p,
                          void (*chunk) (void *ud, const luaN_ChunkPlace *c), void *ud);

/* Finds the block (32 KiB of the heap) that contains the address 'object'. Sets *used to the bytes
   of its lines in use, and *unused to the bytes of its free lines, without pages returned to the
   system. */
LUA_API void luaN_beside (lua_State *L, const void *object, uint64_t *used, uint64_t *unused);

/* The allocator of luaL_newstate: realloc and free. A state that uses it has mapped chunks, unless
   the state's heap is small. */
LUA_API void *luaN_alloc (void *ud, void *ptr, size_t osize, size_t nsize);

/* Replaces f, the allocator of lauxlib.c, by luaN_alloc. Mentions f, so that the compiler does not
   report it as unused. */
#define luaN_allocator(f)	((void)(f), luaN_alloc)

/* As the argument of luaN_setnursery: the call changes nothing and only returns the setting. As its
   result: the call was refused. */
#define LUAN_ASK	UINT64_MAX

/* Sets the size of the nursery to n bytes; 0: the collector chooses the size. Has no effect if the
   environment variable LUA_GC sets the size. Returns the previous setting. In a finalizer, or while
   the state is created or closed, changes nothing and returns LUAN_ASK. */
LUA_API uint64_t luaN_setnursery (lua_State *L, uint64_t n);

/* One frame of a Lua stack. After the frames of a coroutine come those of its resumer. */
typedef struct luaN_Frame {
  lua_State *L;		/* the frame's thread */
  void *ci;		/* the frame's CallInfo, for i_ci of lua_Debug */
  /* prototype, or address of the C function; NULL: not known */
  const void *function;
  /* Address of a number for the prototype, which the sampler may set; it is 0 at first. NULL for a
     C function. */
  unsigned int *id;
  /* index of the running instruction; 0 for a C function */
  int pc;
  unsigned char fresh;	/* not 0: luaV_execute, the bytecode loop, was called for this frame */
  unsigned char last;	/* 1: the outermost frame of its thread */
  unsigned char hooked;	/* not 0: a hook of this frame is running */
  unsigned char resumable;  /* 1: the frame of a C function that may have a continuation */
  /* 0: the next frame is the caller. Otherwise a set of the bits LUAN_CUT and LUAN_TAIL. */
  unsigned char cut;
} luaN_Frame;

/* bits of luaN_Frame.cut */
enum {
  LUAN_CUT = 1,		/* frames between this frame and the next one were not written */
  /* the function was called by a tail call, which removed its caller's frame; only Lua functions */
  LUAN_TAIL = 32
};

/* Returns the running thread of the state. L: the thread that was passed to the API function. It is
   not always the running thread, because C code may pass any thread of the state. */
LUA_API lua_State *luaN_running (lua_State *L);

/* Largest number of frames that luaN_frames writes. */
#define LUAN_DEPTH	1536u
/* Number of innermost frames that luaN_frames writes of a stack with more than LUAN_DEPTH
   frames. */
#define LUAN_INNER	1024u

/* Writes the running stack of L, innermost frame first, and returns the number of frames. If the
   stack has more than LUAN_DEPTH frames, writes the LUAN_INNER innermost and the LUAN_DEPTH -
   LUAN_INNER outermost ones. */
LUA_API size_t luaN_frames (lua_State *L, luaN_Frame frames[LUAN_DEPTH]);

/*
** Like luaN_frames, for a client that keeps the frames of an earlier call: writes only the frames
** of the running stack that may have changed since then. known: the n frames of the main thread
** that the client keeps, innermost first, each as its 'ci'.
**
** The last frame that is written is the innermost Lua frame of known[] that still runs; *shared is
** set to its index in known[]. Of this frame only the pc may have changed and, after a tail call,
** the function. The frames outside it have not run since, and are not written.
**
** If no Lua frame of known[] still runs, or if there are more than LUAN_DEPTH frames to write, sets
** *shared to n and writes all frames, like luaN_frames. The frames of coroutines are always
** written.
*/
LUA_API size_t luaN_newframes (lua_State *L, luaN_Frame frames[LUAN_DEPTH],
                               void *const *known, size_t n, size_t *shared);

/* coroutine.yield, which the bytecode loop recognizes by its address (calls.h). */
LUA_API int luaN_yield (lua_State *L);

/*
** Sets the external bytes of the full userdata at 'idx' to n: memory of a library, or the cost of a
** resource. The collector counts them as growth of the heap until it sweeps the dead userdata, or
** until a call sets them to 0. The sum over all userdata is at most LUAN_MOSTOUTSIDE.
**
** Samples of kind LUAN_KOUTSIDE count these bytes as allocated, in units of LUAN_UNIT bytes: the
** part of n above the largest n of this userdata so far. A call with n = 0 resets this largest n to
** 0, and 'freed' is called if the external bytes are watched.
**
** The call is only a hint, without effect if memory is short. May collect and call finalizers;
** raises no error. To be called after the userdata got its metatable. The functions of a
** luaN_Sampler must not call it. A module that must also run with upstream's Lua can declare
** '#pragma weak luaN_outside', and call the function only if its address is not NULL.
*/
LUA_API void luaN_outside (lua_State *L, int idx, size_t n);

/* external bytes that the core counts for each open file (gc/files.h) */
#define LUAN_FILE	((size_t)32 * 1024)
#define LUAN_UNIT	((size_t)64)
#define LUAN_MOSTOUTSIDE  (~(size_t)0 >> 4)

/* Returns 1 while lua_Alloc runs on this OS thread for a Lua heap. A sampler of malloc calls this
   function to omit the memory of Lua heaps. */
LUA_API int luaN_isallocating (void);

/* Returns the label of a thread, a number that the sampler's owner sets. A new thread has the label
   of its creator; a main thread starts with 0. */
LUA_API unsigned luaN_label (lua_State *L);

/* Sets the label of thread L. */
LUA_API void luaN_setlabel (lua_State *L, unsigned label);

/* number of elements of luaN_Labels.recent, a power of 2 */
#define LUAN_RECENTLABELS	16

/*
** An account of the bytes allocated with each label. When the running thread's label changes
** (luaN_setlabel; a coroutine is resumed, yields or ends), the core adds the bytes since the
** previous change to the sum of the previous label. Another OS thread may read the sums.
*/
typedef struct luaN_Labels {
  /* result of luaN_allocated, in bytes, at the last change of the running thread's label */
  uint64_t from;
  /* address of the sum of the bytes allocated with the label of the field 'label' */
  uint64_t *bytes;
  unsigned label;	/* label of the running thread */
  /* Returns the address of the sum of the bytes allocated with the label of the argument 'label'.
     The address must be valid until another luaN_Labels is set (luaN_setlabels). The function may
     store the address in the cache 'recent'. It must not use the Lua state. */
  uint64_t *(*find) (struct luaN_Labels *labels, unsigned label);
  /* Cache for labels used recently. In each element, 'bytes' is the address of the sum of the bytes
     allocated with the label 'label'. The index of a label is label % LUAN_RECENTLABELS. An unused
     element has a label that belongs to another index, so that no lookup finds it. */
  struct {
    uint64_t *bytes;
    unsigned label;
  } recent[LUAN_RECENTLABELS];
} luaN_Labels;

/* Sets the state's account of labels; NULL: none. The account must exist until another is set.
   Before the call, the caller must set 'from', 'bytes' and 'label' of the account to the present
   values. */
LUA_API void luaN_setlabels (lua_State *L, luaN_Labels *to);

/* Returns 1 if L is the main thread. */
LUA_API int luaN_ismain (lua_State *L);

/* Returns the line of an instruction of a prototype; 0: not known. */
LUA_API int luaN_line (const void *proto, int pc);

/*
** Returns the name of a function, and sets *length to the bytes of the name: the variable or field
** in which the function is stored when it is defined.
**
** Returns NULL for a function without a name, and sets *length to its number, 1 to 65,535, among
** such functions that start in the same line. Returns NULL and sets *length to 0 for a main
** function.
*/
LUA_API const char *luaN_name (const void *proto, size_t *length);

/* A tick: an instant, recorded by a signal handler, of which a time sample is taken. */
typedef struct luaN_Moment {
  lua_State *L;		/* the thread that ran at the tick */
  /* innermost frame of L at the tick ('ci' of luaN_Frame); NULL: L had no frame */
  void *ci;
  unsigned label;	/* label of L at the tick */
  /* LUAN_MINOR or LUAN_MAJOR: a collection was running at the tick; 0: none */
  int collecting;
} luaN_Moment;

enum { LUAN_MINOR = 1, LUAN_MAJOR = 2 };

/* machine registers when the signal arrived */
typedef struct luaN_Registers {
  const char *ip;	/* address of the interrupted instruction */
  /* array of the values of general registers, in any order */
  const uintptr_t *r;
  /* number of values in r[] */
  unsigned n;
} luaN_Registers;

/*
** Records a tick in *m, requests a call of the sampler's 'point', and returns 1. The call comes at
** the first of these safepoints:
** - before the next VM instruction
** - when a running C function calls another function or ends
** - at the end of a collection
**
** Returns 0 and does nothing if the state's last protected call was on another OS thread. L is any
** thread of the state. Async-signal-safe.
*/
LUA_API int luaN_interrupt (lua_State *L, const luaN_Registers *r,
                            luaN_Moment *m);

/*
** Requests a call of the sampler's 'point' without a tick, for the child of a fork. L is any thread
** of the state. Must not be called while another OS thread runs the state.
**
** The call comes when the running function calls another or ends. If no function runs, it comes at
** the next protected call of the state or the next call in its main thread, perhaps on another OS
** thread.
*/
LUA_API void luaN_request (lua_State *L);

/* Returns how often, in the life of the state, a safepoint ran directly before a VM instruction.
   Such a safepoint is caused by a tick: a signal that requests a time sample (luaN_interrupt). */
LUA_API uint64_t luaN_diversions (lua_State *L);

/* An address range; 'to' is excluded. */
typedef struct luaN_Range {
  const char *from, *to;
} luaN_Range;

/* Address ranges of the core's code, for walks of the C stack.
   - execute: the bytecode loop
   - resume: the function that resumes coroutines
   - protect: the function that runs protected calls
   - core: the other functions */
typedef struct luaN_Code {
  luaN_Range core, execute, resume, protect;
} luaN_Code;

/* Sets *c to the address ranges of the core. */
LUA_API void luaN_code (luaN_Code *c);

/*
** A running call of luaD_rawrunprotected, for example for lua_pcall or lua_resume. 'outer' links
** the calls of an OS thread from the innermost outwards, also if they belong to different states.
**
** 'outer' points into the C frame of the outer call (code range luaN_Code.protect). Check each
** address before following it: a program that switches C stacks may abandon frames.
*/
typedef struct luaN_Protected {
  /* the protected call inside which this one runs, or NULL */
  const struct luaN_Protected *outer;
  const lua_State *L;	/* main thread of the state of this call */
  int mixed;		/* 1: this call runs inside a protected call of another state */
} luaN_Protected;

/* Returns the innermost protected call of this OS thread; its field L is NULL if there is none.
   Async-signal-safe. */
LUA_API luaN_Protected luaN_protected (void);

/* Returns the main thread of the state of L. */
LUA_API lua_State *luaN_main (lua_State *L);

/* Checks the invariants of the heap (inspect/verify.c). Returns NULL, or a line with the
   first violated one. Walks all reachable objects, with memory from malloc. */
LUA_API const char *luaN_check (lua_State *L);

#endif
