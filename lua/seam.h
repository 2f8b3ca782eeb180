/* SPDX-License-Identifier: MIT */
/*
** The seam: all that code outside the core may know of the fork. What is
** declared here is exported beside Lua's own API, under the prefix luaN_.
** The core calls a sampler through the function pointers of luaN_Sampler; it
** knows no profiler and runs the same without one.
**
** Unless said otherwise a function may be called wherever the Lua API may be
** called, from a luaN_Sampler's functions too, and allocates nothing, collects
** nothing and raises nothing.
*/
#ifndef luaN_seam_h
#define luaN_seam_h

#include <stddef.h>
#include <stdint.h>

#include "lua.h"

#define LUAN_SEAM	13	/* version of what follows */

/* What a block of memory is. */
typedef enum luaN_Kind {
  LUAN_KTABLE, LUAN_KARRAY, LUAN_KHASH, LUAN_KSTRING, LUAN_KLCLOSURE,
  LUAN_KCCLOSURE, LUAN_KUPVALUE, LUAN_KUSERDATA, LUAN_KTHREAD, LUAN_KSTACK,
  LUAN_KPROTO, LUAN_KBUFFER, LUAN_KOUTSIDE
} luaN_Kind;

/* The block that reached the sample point. */
typedef struct luaN_Sample {
  const void *block;	/* its memory; not yet initialized. LUAN_KOUTSIDE: a name
			   for what the owner stands for */
  const void *owner;	/* the object whose life it shares (itself, or the
			   table of a vector), or NULL */
  uint64_t size;	/* bytes of the block, rounded up */
  luaN_Kind kind;
  int outside;		/* 1: obtained past the nursery */
  unsigned rounding;	/* of an object: how many of the bytes were not asked for */
} luaN_Sample;

/*
** A sampler. Its functions run inside an allocation, a free or a collection:
** they must not call the Lua API, but for lua_getstack, and lua_getinfo with 'S',
** 'n' and 'l', on frames of luaN_frames too, nor raise, nor allocate from the
** state. The debug build ends the process that does.
*/
typedef struct luaN_Sampler {
  void *ud;
  /*
  ** 's' passed the sample point by 'over' bytes. Returns the distance in bytes
  ** from the end of 's' to the next sample point, at least 1.
  */
  uint64_t (*sample) (void *ud, lua_State *L, const luaN_Sample *s,
                      uint64_t over);
  /*
  ** A collection knows what is dead: luaN_isdead answers for every owner, and
  ** everything that has died since the decision before is still whole.
  */
  void (*decide) (void *ud, lua_State *L, int major);
  /*
  ** The pause that began with 'began' of luaN_memory is over; 'decide' was
  ** called in it, once or (a major collection's turn came) twice. Nothing was
  ** allocated since.
  */
  void (*collected) (void *ud, lua_State *L);
  /*
  ** A block that is no object (it may have an owner) is freed by hand; or its
  ** owner stands for nothing any more. Or it is a string, or userdata, of more than 512 bytes,
  ** which was alive in a minor collection, or a userdata that one had left waiting for its
  ** finalizer, and another, behind its decision, has found it dead. Called
  ** for those of luaN_watch, and for some that are not watched.
  */
  void (*freed) (void *ud, lua_State *L, const void *block);
  /*
  ** A block that is no object had 'before' bytes at 'from', and has 'after' at 'to', which
  ** may be the same place: what it keeps of them lives on, the rest of them is freed. What it
  ** has grown by is new, and may have had its sample already. Called as 'freed' is, but not
  ** of a table's array that grows where it lies.
  */
  void (*resized) (void *ud, lua_State *L, const void *from, const void *to,
                   uint64_t before, uint64_t after);
  /*
  ** Moments noted by luaN_interrupt are complete now: luaN_frames gives the
  ** stack on which they happened, with frames inside of it that have been
  ** entered since. A frame of a moment that is not there has been left. May be
  ** called without a moment.
  */
  void (*point) (void *ud, lua_State *L);
  /* lua_close begins; the state is whole, collections are still possible. */
  void (*closing) (void *ud, lua_State *L);
  /*
  ** Growth has moved n bytes (luaN_setcopies), and passed its point by 'over'. Returns
  ** the distance to the next one, at least 1; UINT64_MAX: no more. May be NULL.
  */
  uint64_t (*copied) (void *ud, lua_State *L, size_t n, uint64_t over);
  /* Memory has run out, a full collection has not helped: an error is raised next. */
  void (*starved) (void *ud, lua_State *L);
} luaN_Sampler;

/*
** Sets the state's sampler ('s' stays the caller's and must live until it is
** taken off) and the distance to the first sample, at least 1. NULL takes it
** off: the sample point is at infinity then.
*/
LUA_API void luaN_setsampler (lua_State *L, const luaN_Sampler *s,
                              uint64_t distance);
LUA_API const luaN_Sampler *luaN_getsampler (lua_State *L);

/* Bytes until the next sample; UINT64_MAX without a sampler. */
LUA_API uint64_t luaN_distance (lua_State *L);

/* Moves the next sample 'distance' bytes (>= 1) from here. Needs a sampler. */
LUA_API void luaN_setdistance (lua_State *L, uint64_t distance);

/* Bytes that samples count: what the state has allocated in its life, and what
   userdata have come to stand for. */
LUA_API uint64_t luaN_allocated (lua_State *L);

/*
** 'copied' is called when growth has moved so many bytes from here: of a table the old
** array that was moved and the old hash part, of a C code's buffer (luaL_Buffer) what it
** held. UINT64_MAX: never, as it is when a sampler is set.
*/
LUA_API void luaN_setcopies (lua_State *L, uint64_t distance);

/* A buffer of n bytes that grows (lauxlib.c). */
LUA_API void luaN_grown (lua_State *L, size_t n);

/*
** Inside 'sample', of a string that a concatenation makes: bytes of the operands that
** come from where its result goes, s in s = s .. x (a local variable, an upvalue, a
** global one, a field). Others: 0.
*/
LUA_API size_t luaN_replaced (lua_State *L);

/* Bytes of a string's block that are not its text. */
#define LUAN_STRINGHEAD	17u

/*
** Blocks whose free 'freed' is to be told of: 2^log2 bits, log2 at least 6, where
** that of each of them is set (luaN_watchbit); others may share it. They stay the
** caller's and may change at any time. NULL: none.
*/
LUA_API void luaN_watch (lua_State *L, const uint64_t *bits, unsigned log2);

static inline unsigned luaN_watchbit (const void *block, unsigned log2) {
  return (uint32_t)((uintptr_t)block >> 3) * 2654435769u >> (32 - log2);
}

/* Is 'owner' dead? To be asked inside 'decide' only. */
LUA_API int luaN_isdead (lua_State *L, const void *owner);

/*
** Tables by their addresses, for 'decide' only. What is got there is good until
** 'decide' returns; a table that is not dead is good until a later 'decide' says
** that it is.
*/

/* Metatable of an owner of samples, NULL: it has none, or is of a type whose
   values share one. */
LUA_API const void *luaN_metatable (lua_State *L, const void *owner);

/* What a table has under a key that is a string. */
typedef struct luaN_Entry {
  const char *key;	/* NULL: another kind of key (luaN_next) */
  size_t keylength;
  const char *string;	/* the value, when it is a string; else NULL */
  size_t length;
  const void *table;	/* the value, when it is a table; else NULL */
} luaN_Entry;

/* Raw access; 'key' has at most 40 bytes. 0: there is nothing. */
LUA_API int luaN_field (lua_State *L, const void *table, const char *key,
                        luaN_Entry *e);

/* The slot '*i' of a table's hash part, moving '*i' on. 0: there are no more.
   Slots without an entry, or whose value is no table, have e->table NULL. */
LUA_API int luaN_next (lua_State *L, const void *table, size_t *i,
                       luaN_Entry *e);

/* The registry, and the table of globals (NULL: the program took it away). */
LUA_API const void *luaN_registry (lua_State *L);
LUA_API const void *luaN_globals (lua_State *L);

/*
** What holds what: a walk over everything that a full collection would keep, and
** the edges by which it is held. Nothing is changed by it: no count, no weak table,
** no finalizer runs. Breadth first: the first edge to an object ends a shortest path
** from a root; what only a stack holds comes behind what a name leads to.
*/
typedef enum luaN_EdgeKind {
  LUAN_EROOT,		/* index: luaN_Root; 'from' is NULL */
  LUAN_EMETATABLE,
  LUAN_EINDEX,		/* t[index] */
  LUAN_EFIELD,		/* t[key], the key a string, whose LUAN_EKEY came before */
  LUAN_EENTRY,		/* t[key], another key: an object, or NULL (a float, true …) */
  LUAN_EKEY,		/* a key of the table */
  LUAN_EWEAKKEY,	/* the value under the key 'from' of the table 'in', whose
			   keys are weak */
  LUAN_EUPVALUE,	/* of a closure: number 'index', called 'key' or NULL; 'in': the
			   prototype; of a C function NULL, and 'code' */
  LUAN_EVALUE,		/* what an upvalue holds */
  LUAN_EUSERVALUE,	/* number 'index' */
  LUAN_ELOCAL,		/* of a thread: a variable called 'key' of prototype 'in' */
  LUAN_ESTACK,		/* ... slot 'index' of a call, 0: the function that runs; 'in':
			   its prototype; of a C function NULL, and 'code'. Neither: of
			   a coroutine that has not begun */
  LUAN_EOPEN,		/* ... an upvalue that is open */
  LUAN_EPROTO,		/* the prototype of a closure, of a function in a function */
  LUAN_ECONSTANT,
  LUAN_ENAME		/* a name for debugging, the source */
} luaN_EdgeKind;

typedef enum luaN_Root {
  LUAN_RREGISTRY, LUAN_RTHREAD, LUAN_RPINNED, LUAN_RFIXED, LUAN_RFINALIZER,
  LUAN_RTYPE = 16	/* and more: the metatable of a type, LUA_TNIL first */
} luaN_Root;

#define LUAN_NOPLACE	((size_t)-1)

typedef struct luaN_Edge {
  luaN_EdgeKind kind;
  int fresh;		/* 1: the first edge to this object */
  const void *from, *to;
  size_t place;		/* of 'from' among the objects told; LUAN_NOPLACE: of none */
  const void *key, *in;
  const void *code;	/* a C function's address; of those kinds alone */
  long long index;
} luaN_Edge;

typedef struct luaN_Object {
  const void *object;
  luaN_Kind kind;	/* of objects, never of vectors: these are in 'size' */
  size_t place;		/* 0, 1, ...: the order in which objects are reached */
  size_t size;		/* bytes with vectors, as the collector counts them */
  const char *text;	/* of a string; else NULL */
  size_t length;
  const void *name, *source;  /* of a prototype: strings, or NULL */
  int line;		/* ... where its definition begins; 0: main */
  const void *function;	/* of a closure: prototype, or the C function's address */
  int main;		/* 1: the main thread */
} luaN_Object;

typedef struct luaN_Walker {
  void *ud;
  /* As lua_Alloc: memory for the walk, some 8 to 16 bytes an object. */
  void *(*memory) (void *ud, void *block, size_t old, size_t size);
  /* Comes before its edges, which may come in two parts (stacks). 0: stop. NULL: none
     are told. */
  int (*object) (void *ud, const luaN_Object *o);
  int (*edge) (void *ud, const luaN_Edge *e);
  /*
  ** Not NULL: only the tree of first edges is wanted. 'edge' is told those that come from
  ** no place (of roots, of values under weak keys), and 'done' gets the others; of
  ** strings there are those alone whose bit is set, as in luaN_watch.
  */
  const uint64_t *strings;
  unsigned log2;
  /* All objects, by their places, and of a tree the places that they were reached from
     (LUAN_NOPARENT: none, in the order in which 'edge' was told), which it may change.
     May be NULL. */
  void (*done) (void *ud, const void *const *objects, uint32_t *parents, size_t n);
} luaN_Walker;

#define LUAN_NOPARENT	UINT32_MAX

enum { LUAN_WALKED, LUAN_NOMEMORY, LUAN_STOPPED, LUAN_BUSY };

/* Returns LUAN_WALKED, or why it ended: no memory; a function returned 0; BUSY: the
   collector is in the midst of something, or was called in an emergency; ask again later.
   Not from a sampler's functions, except 'closing' and 'collected'. */
LUA_API int luaN_walk (lua_State *L, const luaN_Walker *w);

/* What an object that a walk has told is, and all its edges ('place' and 'fresh' say
   nothing), those of weak keys too. Only while nothing was allocated since. */
LUA_API void luaN_object (lua_State *L, const void *object, luaN_Object *to);
LUA_API void luaN_edges (lua_State *L, const void *object,
                         int (*edge) (void *ud, const luaN_Edge *e), void *ud);

/* Bytes in use that are no object's: the state itself, the table of strings. */
LUA_API size_t luaN_statebytes (lua_State *L);

/*
** A caller of lua_Alloc (lua_getallocf) got no memory: runs a full collection without finalizers,
** which gives the heap's free blocks back, so that a second request may succeed. Returns 0 if no
** collection is possible at this time. Any string, table or userdata must be on the stack.
*/
LUA_API int luaN_refused (lua_State *L);

/*
** The userdata that gets a finalizer next will be closed explicitly, as the box of a luaL_Buffer: it
** does not count for the number of young finalizable objects that starts a minor collection.
*/
LUA_API void luaN_willclose (lua_State *L);

/*
** Runs a minor collection, which decides the fate of every sample. Finalizers
** wait for the next collection. Does nothing inside a collection or a finalizer,
** or when the state is being closed. Not from a sampler's functions, except
** 'closing'.
*/
LUA_API void luaN_collect (lua_State *L);

/* 1 while lua_close takes the state apart: what is made now has no finalizer. */
LUA_API int luaN_isclosing (lua_State *L);

/* Where a major collection is, between two of its slices. */
typedef enum luaN_Phase {
  LUAN_NOMAJOR, LUAN_MARKING, LUAN_SWEEPING
} luaN_Phase;

/* What a pause looks at besides the objects that it finds alive. */
typedef enum luaN_Looked {
  LUAN_LREMEMBERED,	/* slots and objects that were written to since the last one */
  LUAN_LSTACKS,	/* slots of stacks */
  LUAN_LWEAK,	/* entries of weak tables */
  LUAN_LLISTED,	/* entries of the collector's lists: threads, objects with finalizers,
			   large ones */
  LUAN_NLOOKED
} luaN_Looked;

/* Bytes and counts of the state's memory; times in nanoseconds. */
typedef struct luaN_Memory {
  uint64_t inuse;	/* as collectgarbage "count" */
  uint64_t held;	/* obtained from lua_Alloc */
  uint64_t allocated;	/* by the state, in its life */
  uint64_t tenured;	/* of these, survived their first collection (large strings: three;
				   userdata that wait for their finalizer: none) */
  uint64_t nursery;	/* from one minor collection to the next */
  uint64_t charged;	/* what all nurseries so far were filled with: more than
			   'allocated', for vectors that get another place are new memory, of
			   which what large ones leave is paid back in the same nursery, ... */
  uint64_t planned;	/* ... and what they were to have, as far as they came */
  uint64_t minors, majors;  /* collections so far */
  uint64_t pause;	/* the last one: a minor collection and the slice of a
			   major one after it, or a full collection */
  uint64_t longest;	/* the longest pause so far */
  uint64_t pauses;	/* all of them */
  uint64_t began;	/* CLOCK_MONOTONIC when the last pause, or the one that
			   is running, began */
  uint64_t processor;	/* CLOCK_THREAD_CPUTIME_ID then, if a sampler was set; ... */
  uint64_t slices;	/* ... and how much of it slices of major collections have taken so
			   far, in pauses that a minor one began */
  luaN_Phase phase;	/* of the major collection */
  uint64_t outside;	/* what userdata stand for (luaN_outside) */
  uint64_t looked[LUAN_NLOOKED];  /* by luaN_Looked: what the collector has looked at in
			   the last pause besides the objects that it found alive */
  uint64_t work;	/* sum of these, but for what was remembered */
  uint64_t mostwork;	/* the most of any pause so far */
} luaN_Memory;

LUA_API void luaN_memory (lua_State *L, luaN_Memory *m);

/*
** Where the state's memory is, in bytes: held = chunks + large + lists, and the chunks are
** heads + lines + unused + empty, but for what aligns blocks and what the system has back.
** A walk over the heads of all blocks. 'chunk' (may be NULL) is told every chunk.
*/
typedef struct luaN_ChunkPlace {
  const void *from;	/* the chunk, ... */
  size_t size;
  const void *first;	/* ... its blocks, ... */
  size_t bytes;
  int mapped;		/* ... and whether it is mapped; else it came from lua_Alloc */
} luaN_ChunkPlace;

typedef struct luaN_Places {
  uint64_t inuse;	/* as collectgarbage "count" */
  uint64_t living;	/* of these the last major collection has found alive so many;
			   0: there was none */
  uint64_t chunks;
  uint64_t lent;	/* of these, what lua_Alloc gave */
  uint64_t heads;	/* of blocks */
  uint64_t lines;	/* that something lies in */
  uint64_t unused;	/* free lines of blocks in which others are not, ... */
  uint64_t empty;	/* ... and of the other blocks; both without what the system has */
  uint64_t large;	/* what lua_Alloc gave one by one: large objects and vectors */
  uint64_t lists;	/* the collector's own */
} luaN_Places;

LUA_API void luaN_places (lua_State *L, luaN_Places *p,
                          void (*chunk) (void *ud, const luaN_ChunkPlace *c), void *ud);

/* Of the block that an address in a chunk's blocks lies in: bytes of its lines that are
   used, and free. */
LUA_API void luaN_beside (lua_State *L, const void *object, uint64_t *used, uint64_t *unused);

/*
** The allocator of luaL_newstate's states: malloc. While a state has it, the chunks
** of its heap do not come from it but are mapped.
*/
LUA_API void *luaN_alloc (void *ud, void *ptr, size_t osize, size_t nsize);

/* In upstream's words: f is its allocator, which nothing else calls. */
#define luaN_allocator(f)	((void)(f), luaN_alloc)

/*
** Bytes from one minor collection to the next, from now on; 0: as the collector
** sees fit; LUAN_ASK: as before. Returns what was set before; LUAN_ASK, and does nothing,
** while a finalizer runs or the state is made or closed.
*/
#define LUAN_ASK	UINT64_MAX

LUA_API uint64_t luaN_setnursery (lua_State *L, uint64_t n);

/*
** One frame of a Lua stack. The frames of a coroutine are followed by those of
** the thread that resumed it.
*/
typedef struct luaN_Frame {
  lua_State *L;		/* the thread it belongs to */
  void *ci;		/* for lua_Debug.i_ci */
  const void *function;	/* prototype of a Lua function, or the C function */
  unsigned int *id;	/* the prototype's number, 0 at first, the sampler's to
			   set; NULL for a C function */
  int pc;		/* index of the running instruction; Lua functions only */
  unsigned char fresh;	/* 1: a luaV_execute of its own began with this frame */
  unsigned char last;	/* 1: the outermost frame of its thread */
  unsigned char hooked;	/* 1: a hook of its is running */
  unsigned char resumable;  /* 1: C function that was given a continuation */
  unsigned char cut;	/* 1: frames between this and the next are left out */
} luaN_Frame;

/*
** The thread that runs when the core is asked something in the name of L: L, or
** the coroutine that runs instead of it (C code may use any thread's L).
*/
LUA_API lua_State *luaN_running (lua_State *L);

/*
** Writes the running stack of L, innermost frame first; returns how many there
** are. Of more than LUAN_DEPTH the LUAN_INNER innermost and the outermost are
** there.
*/
#define LUAN_DEPTH	1536u
#define LUAN_INNER	1024u

LUA_API size_t luaN_frames (lua_State *L, luaN_Frame frames[LUAN_DEPTH]);

/*
** The same for somebody who walks again and again: only the frames that may
** have changed since this function was last called. 'known' are the frames of
** the main thread that were running then (their 'ci', n of them, innermost
** first; outer ones may be left out). Writes frames up to the innermost Lua function among
** these that has stayed: its pc may have moved; what is outside of it has not
** run, nor has the C code that called it. '*shared' is its index in 'known'; n:
** there is none, and all frames are written as by luaN_frames.
** Frames of coroutines are always new: they may have been left and entered
** again, without their C code.
*/
LUA_API size_t luaN_newframes (lua_State *L, luaN_Frame frames[LUAN_DEPTH],
                               void *const *known, size_t n, size_t *shared);

/* coroutine.yield, which the bytecode loop knows by its address (calls.h). */
LUA_API int luaN_yield (lua_State *L);

/*
** The full userdata at 'idx' stands for n bytes outside of the heap from now on
** (0: for none): memory of a library, or what a resource is worth (the io library
** takes LUAN_FILE for an open file). That paces the collector, and is taken back
** when the userdata dies. Samples count it as allocated where this is called, of
** the kind LUAN_KOUTSIDE and in units of LUAN_UNIT bytes, up to 2^32 of these: what
** is more than the most since it was 0. They are told of what is taken back when
** that is all of it. luaN_memory tells the sum, which is LUAN_MOSTOUTSIDE at most;
** what is beyond that does not count.
**
** A hint, which is lost when there is no memory to note it. May collect and call
** finalizers, as an allocation; raises no error. Call it when the userdata has its
** metatable. A C module that is to run with upstream's Lua, too, says
** '#pragma weak luaN_outside' and asks whether the function is there.
*/
LUA_API void luaN_outside (lua_State *L, int idx, size_t n);

#define LUAN_FILE	((size_t)32 * 1024)
#define LUAN_UNIT	((size_t)64)
#define LUAN_MOSTOUTSIDE  (~(size_t)0 >> 4)

/* Not 0: lua_Alloc runs on this OS thread, called by the heap of a state: what it asks the
   system for is counted there. */
LUA_API int luaN_isallocating (void);

/*
** The label of a thread: a number that whoever samples has given it. A new thread has
** that of the thread that makes it, a new state's main thread 0; nothing else changes
** it.
*/
LUA_API unsigned luaN_label (lua_State *L);
LUA_API void luaN_setlabel (lua_State *L, unsigned label);

/* 1: the thread is the state's main thread. */
LUA_API int luaN_ismain (lua_State *L);

/* Line of instruction 'pc' of a prototype; 0 when it is not known. */
LUA_API int luaN_line (const void *proto, int pc);

/*
** What the definition of a function calls it, and the length: the variable or the
** field that it is put into. NULL: nothing, or it is a main function; '*length' is then its
** number among the functions without a name that start in the same line, from 1 on (0: a main
** function).
*/
LUA_API const char *luaN_name (const void *proto, size_t *length);

/*
** A moment of which a sample is to be taken, noted from a signal handler.
*/
typedef struct luaN_Moment {
  lua_State *L;		/* the thread that ran */
  void *ci;		/* its innermost frame, as in luaN_Frame; NULL: none */
  unsigned label;	/* of the thread, then (luaN_label) */
  int collecting;	/* LUAN_MINOR, LUAN_MAJOR: in a collection; 0: not */
} luaN_Moment;

enum { LUAN_MINOR = 1, LUAN_MAJOR = 2 };

/* What the machine held when the signal came. */
typedef struct luaN_Registers {
  const char *ip;	/* the address at which it was */
  const uintptr_t *r;	/* general registers, in any order; may be none */
  unsigned n;
} luaN_Registers;

/*
** Notes the moment in 'm' and has the sampler's 'point' called soon: before the
** next VM instruction when a Lua function ran, or when the C function that ran
** calls another or ends; at the end of the collection that ran. L is any thread
** of the state. Safe in a signal handler. 0: another OS thread has run the state
** since this one did; nothing is noted then.
*/
LUA_API int luaN_interrupt (lua_State *L, const luaN_Registers *r,
                            luaN_Moment *m);

/* VM instructions of the state's before which the bytecode loop has turned aside for
   a moment, so far: one for each at most. */
LUA_API uint64_t luaN_diversions (lua_State *L);

/*
** Address ranges of the core's code, for those who walk the C stack: the
** bytecode loop, what runs a coroutine for lua_resume, what runs a protected
** call, and all else. 'from' inclusive, 'to' not.
*/
typedef struct luaN_Range {
  const char *from, *to;
} luaN_Range;

typedef struct luaN_Code {
  luaN_Range core, execute, resume, protect;
} luaN_Code;

LUA_API void luaN_code (luaN_Code *c);

/*
** A protected call that runs: lua_pcall, lua_resume and the like. Those of an OS
** thread are a chain, whatever states they are of; each is one frame of
** luaN_Code.protect. 'outer' lies in that frame: a program that switches C
** stacks may leave some behind, so who follows it looks first where it leads.
*/
typedef struct luaN_Protected {
  const struct luaN_Protected *outer;  /* NULL: there is none */
  const lua_State *L;	/* its state's main thread */
  int mixed;		/* 1: it runs inside of one of another state */
} luaN_Protected;

/* The innermost of this OS thread; its L is NULL: there is none. May be called
   in a signal handler. */
LUA_API luaN_Protected luaN_protected (void);

LUA_API lua_State *luaN_main (lua_State *L);

/*
** Checks the heap's invariants (heap.h, nursery.h, gc.h). NULL: they hold; else
** a line that names the first that does not. Costs a walk over everything that
** can be reached; takes memory for it from malloc.
*/
LUA_API const char *luaN_check (lua_State *L);

#endif
