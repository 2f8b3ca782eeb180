/* SPDX-License-Identifier: MIT */
/*
** The C interface of the allocation sampler, for programs that embed Lua. A program starts the
** sampling of a state, and its callbacks receive every sample, the sample's survival outcome, the
** death of a survivor, and the collections. The profiler writes its files from the same events.
**
** Installed next to lua.h; there is nothing to link. In C++, include lua.hpp first. The code is in
** the Lua module profiler.core, which asamp_api loads:
**
**   const asamp_Api *api = asamp_api(L);
**   const char *error = api->start(L, &options, &client);
**
** A state has at most one client at a time. A profile that the module profiler writes counts as
** a client. Several states of a process may each have a client. After a fork, the child process
** still has the client.
**
** The callbacks of one sample are called in one of these orders, each at most once:
**
**   allocated -> decided               the block died young, or the sample is not followed
**   allocated -> decided -> died       the block survived, and died later
**   allocated -> decided -> left       the block survived, and the client ended before it died
**   allocated -> left                  the client ended before the survival was decided, where no
**                                      collection can run
**
** 'allocated' returns a pointer to data of the program, which all later callbacks of the sample
** receive. The program can free the data in the last of these callbacks.
**
** Callbacks run on the OS thread that runs the state, usually in the middle of an allocation or a
** collection. So a callback must not call the Lua API. In the debug build such a call ends the
** process with a line that names the called function. Of asamp_Api, a callback may call only
** 'symbol' and 'kindname'; the other functions do nothing and report a failure. A callback must not
** raise an error or leave by longjmp. It may use malloc, locks and I/O; the Lua code does not run
** meanwhile. Callbacks are never nested. Pointers that a callback receives are valid until it
** returns, unless a longer life is stated.
**
** A compiled program also works with later versions of the module. They add fields and callbacks
** only at the end of structs, and none to asamp_Frame. The field 'size' of asamp_Client and
** asamp_Options shows which fields the program was compiled with.
*/
#ifndef asamp_h
#define asamp_h

#include <stddef.h>
#include <stdint.h>

#include "lua.h"

#define ASAMP_VERSION	6	/* Version of this header; increases with each addition. */

/* Types of allocated blocks. */
typedef enum asamp_Kind {
  ASAMP_TABLE, ASAMP_ARRAY, ASAMP_HASH, ASAMP_STRING, ASAMP_LUACLOSURE,
  ASAMP_CCLOSURE, ASAMP_UPVALUE, ASAMP_USERDATA, ASAMP_COROUTINE, ASAMP_STACK,
  ASAMP_PROTO, ASAMP_BUFFER,
  ASAMP_OUTSIDE		/* Not a heap block: memory or a resource outside the heap that a
			   userdata owns (luaN_outside of seam.h). */
} asamp_Kind;

/*
** A function written in Lua. Valid until 'stop'. Functions with equal name, source and line have
** the same address.
*/
typedef struct asamp_Function {
  const char *name;	/* Name from the function's definition, "main chunk", or for a function
			   without a name "anonymous", "anonymous #2", ... "(tail call)" represents
			   callers that tail calls have replaced. "?" represents the frames left out
			   of a deep stack, and functions for which there was no memory. */
  const char *source;	/* Path of its file, or the chunk name as error messages show it. */
  int linedefined;	/* Line of its definition; 0: a main chunk, "(tail call)" or "?". */
} asamp_Function;

typedef struct asamp_Frame {
  const asamp_Function *function;  /* NULL: a native frame. */
  int line;		/* Current line; 0: unknown, or a native frame. */
  const void *address;	/* Code address of a native frame: an address inside its current call
			   instruction, or the start of a C function that has yielded. NULL: the
			   frame is not native. */
} asamp_Frame;

typedef struct asamp_Sample {
  uint64_t number;	/* Number of the sample within this client: 1, 2, ... */
  uint64_t time;	/* Time of the allocation: CLOCK_MONOTONIC, ns. */
  uint64_t size;	/* Size of the block in bytes, rounded up as the heap does. */
  uint64_t count;	/* Number of sampling periods that the sample represents, >= 1. */
  asamp_Kind kind;	/* Type of the block. */
  int outside;		/* 1: the block was not allocated in the nursery. */
  const asamp_Frame *frames;  /* The whole stack, innermost frame first. With the option
			         'native', it has the C frames and the Lua frames in the
			         order of their calls. */
  size_t nframes;	/* Number of frames. */
  size_t shared;		/* Number of outermost frames that are equal, including their
			   current lines, to those of the previous sample. */
} asamp_Sample;

/* A sample that was reported to 'allocated' earlier. */
typedef struct asamp_Known {
  uint64_t number;	/* Number of the sample, as in asamp_Sample. */
  uint64_t size, count;	/* As in asamp_Sample. */
  void *value;		/* Pointer that 'allocated' returned; NULL if the client has no
			   'allocated'. */
} asamp_Known;

/* Survival outcome of a sample. Outcomes are reported in the order of the samples' numbers. */
typedef struct asamp_Fate {
  int survived;		/* 1: the block was alive at the first collection after its allocation;
			   0: that collection found it dead, or it was freed before. */
  int followed;		/* 1: 'died' or 'left' will be called later; 0: the block died, or the
			   client has no 'died', or the limit of followed samples is reached. */
  const char *class_name;  /* Name in the object's metatable, or NULL. Valid until 'stop'. */
} asamp_Fate;

/*
** A collection. It is reported after the survival outcomes that it has decided, and the deaths that
** it has found. Times are in ns, sizes in bytes. A collection that has neither is usually not
** reported if the last report was less than 10 ms ago.
*/
typedef struct asamp_Collection {
  uint64_t time;	/* End of the collection, CLOCK_MONOTONIC. */
  uint64_t duration;	/* Length of the pause. The pause of a minor collection may contain a
			   slice of a major collection; the length includes this slice, unless
			   the slice is reported as a collection of its own. */
  /* 'inuse': bytes in use, as in collectgarbage "count". 'held': bytes reserved, that is, obtained
     from lua_Alloc or mapped. */
  uint64_t inuse, held;
  uint64_t rss;		/* Resident set size of the process, measured up to 0.1 s before. */
  uint64_t tenured;	/* Bytes that became old since the previously reported collection. Most
			   objects become old when they survive their first collection, large
			   strings when they survive their third. */
  uint64_t minors, majors;  /* Numbers of unreported minor and major collections since the
			       previously reported one. */
  int major;		/* 1: a full collection, or the last marking slice of a major
			   collection; 0: a minor collection. */
  int phase;		/* Phase of the major collection at the end of this collection: 0 no
			   major collection, 1 marking, 2 sweeping. */
  uint64_t lost;	/* Samples that were dropped since 'start' because there was no memory
			   for them, as a number of sampling periods. */
} asamp_Collection;

/*
** The shortest path of references from a root of the state to a sampled object. Each step is a text
** that describes one reference; the root comes first: "_G", "upvalue \"listeners\" of on
** (app.lua:3)", "[\"close\"]", "[1..n]". All elements of an array are one step. If more than twelve
** fields of a table lead to samples, these fields are one step, except in _G, the registry and
** package.loaded. Within one call of 'holders', equal paths have equal numbers.
*/
typedef struct asamp_Path {
  uint32_t number;	/* Number of the path: 1, 2, ... 0: there is no path, because the object
			   is dead, or because the block belongs to no object (a buffer). */
  const char *const *steps;  /* Steps of the path (descriptions of references), the root first.
			   Valid until the callback returns. */
  size_t nsteps;	/* Number of steps. */
} asamp_Path;

/* The callbacks of a client. Any of them may be NULL. */
typedef struct asamp_Client {
  size_t size;		/* sizeof(asamp_Client), as the program was compiled. */
  void *ud;		/* Pointer that all callbacks receive. */
  /* Reports a new sample. Returns a pointer that later callbacks of the sample receive. */
  void *(*allocated) (void *ud, const asamp_Sample *s);
  /* Reports the survival outcome of a sample. */
  void (*decided) (void *ud, const asamp_Known *s, const asamp_Fate *f);
  /*
  ** Reports that a followed sample is dead. Either a major collection found it dead, or it was
  ** freed explicitly, for example a hash part by a resize. An explicit free is reported by a later
  ** collection of any kind, or by 'stop'. Deaths of one collection are reported in the order of the
  ** numbers. Without this callback no sample is followed. With it, at most 131072 samples are
  ** followed at a time.
  */
  void (*died) (void *ud, const asamp_Known *s);
  /* Reports that the client ends while no collection has decided yet whether the sample survives,
     or while it is followed (asamp_Fate) and not found dead. */
  void (*left) (void *ud, const asamp_Known *s);
  void (*collected) (void *ud, const asamp_Collection *c);	/* Reports a collection. */
  /* Reports the path of references from a root to a sample. 'holders' calls it for every followed
     sample (asamp_Fate), in the order of the numbers. */
  void (*held) (void *ud, const asamp_Known *s, const asamp_Path *p);
} asamp_Client;

typedef struct asamp_Options {
  size_t size;		/* sizeof(asamp_Options), as the program was compiled. */
  uint64_t period;	/* Mean distance between two samples in bytes: 64 to 2^62. */
  int fixed;		/* 0: exponentially distributed distances with the mean 'period'; 1:
			   constant distances. */
  uint64_t seed;	/* Seed of the random distances; 0: the sampler chooses one. */
  int native;		/* 1: stacks include C frames. */
} asamp_Options;

#define ASAMP_KINDS	((int)ASAMP_OUTSIDE + 1)

/*
** Counts of a state's allocations. They only grow: the difference of two reads is the
** allocation of the code that ran between the reads.
*/
typedef struct asamp_Counts {
  size_t size;		/* sizeof(asamp_Counts), set by the program. */
  uint64_t bytes;	/* Allocated bytes of all kinds except ASAMP_STACK. That kind covers call
			   frames and stacks that have grown; the first stack of a coroutine
			   counts as ASAMP_COROUTINE. */
  uint64_t blocks;	/* Number of blocks of all kinds except ASAMP_STACK. A block counts when
			   it is allocated, and again each time it grows. */
  uint64_t kindbytes[ASAMP_KINDS];  /* Bytes of each asamp_Kind, including ASAMP_STACK. */
  uint64_t kindblocks[ASAMP_KINDS];  /* Blocks of each asamp_Kind, including ASAMP_STACK. */
} asamp_Counts;

/* The functions. Except 'symbol' and 'kindname', call them only where the Lua API may be called. */
typedef struct asamp_Api {
  int version;		/* ASAMP_VERSION of the module, at least that of this header. */
  /* Starts the sampling of the state. Copies *o and *c. Returns NULL, or the reason of the failure
     as a static string. May raise a memory error, like lua_newuserdatauv. */
  const char *(*start) (lua_State *L, const asamp_Options *o,
                        const asamp_Client *c);
  /*
  ** Ends the sampling of the state and removes its client. First runs a minor collection, which
  ** decides the survival of the last samples. Inside a finalizer no collection can run; these
  ** samples then remain undecided. Then calls 'left' for the followed and the undecided samples.
  ** lua_close does the same. Returns 1; 0 if the state has no client of this interface.
  */
  int (*stop) (lua_State *L);
  /* Changes the period of the state's client, from this call on. Returns NULL or the reason of the
     failure, like 'start'. */
  const char *(*period) (lua_State *L, uint64_t period);
  /* Writes the name and the object file of a native address into the buffers, truncated to
     their sizes; "" if unknown. Slow: call it once for each address. Thread-safe. */
  void (*symbol) (const void *address, char *name, size_t namesize, char *file,
                  size_t filesize);
  /* Returns the name of a type: "table", "table array part", ... */
  const char *(*kindname) (asamp_Kind kind);
  /*
  ** Calls 'held' for every followed sample. A client without the callback 'died' has no followed
  ** samples. Visits all reachable objects, which takes about as long as a full collection.
  ** Allocates up to about 16 bytes per object with malloc. Returns the number of reported samples.
  ** Returns 0 on failure: the state has no client of this interface, memory is exhausted, or the
  ** call comes from a callback, or from lua_Alloc during a collection.
  */
  size_t (*holders) (lua_State *L);
  /*
  ** Writes a snapshot of the heap to the file 'path', for 'asamp heap'. Needs no client. If the
  ** state is sampled, the snapshot has the site and time of each live sample. A forked child writes
  ** the file; the program's wait() does not return that child. If fork fails, this process writes
  ** the file. If 'wait' is 0, returns after the fork, unless 16 snapshots are already being
  ** written; otherwise returns after the file is written. Replaces an existing snapshot or profile
  ** at 'path', but no other file. Returns 1. On failure returns 0 and writes one line with the
  ** reason to 'err', which may be NULL.
  */
  int (*snapshot) (lua_State *L, const char *path, int wait, char *err, size_t errsize);
  /*
  ** Sets a label of thread L, like profiler.label. In profiles, later samples of L carry the label,
  ** and so do samples of coroutines that L creates later. A 'value' of NULL removes the label.
  ** Copies name and value, each truncated to 255 bytes. The state need not be sampled. Returns NULL
  ** or the reason of the failure, like 'start'.
  */
  const char *(*label) (lua_State *L, const char *name, const char *value);
  /*
  ** Starts to count the state's allocations (asamp_Counts). Needs no client. Each count_start
  ** needs a count_stop; the pairs may be nested. Returns NULL or the reason of the failure.
  ** Allocates nothing.
  */
  const char *(*count_start) (lua_State *L);
  /* Ends a count. Returns NULL or the reason of the failure, like 'count_start'. */
  const char *(*count_stop) (lua_State *L);
  /* Copies the counts to *to and returns 1. Returns 0 and changes nothing if it is called in a
     callback, or if to->size is not sizeof(asamp_Counts) of the module's version. */
  int (*count) (lua_State *L, asamp_Counts *to);
  /* Runs two full collections; the second frees objects whose finalizers the first has called.
     Returns the bytes in use after them. The result does not include bytes that belong to no object
     (the state, the table of strings), the thread L, the main thread, and the stacks of these two
     threads. Returns 0 where no collection can run: in a finalizer or in a callback. */
  uint64_t (*alive) (lua_State *L);
} asamp_Api;

/*
** Loads the module profiler.core and returns its interface. Returns NULL in three cases. The module
** is not found: the state has no 'require', or package.cpath does not lead to profiler/core.so. The
** module is older than this header. Or the module does not work with this Lua; require "profiler"
** then raises an error with the reason. May raise a memory error.
*/
static inline const asamp_Api *asamp_api (lua_State *L) {
  const asamp_Api *api = NULL;
  int top = lua_gettop(L);
  if (lua_getglobal(L, "require") == LUA_TFUNCTION) {
    lua_pushliteral(L, "profiler.core");
    if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_istable(L, -1)) {
      lua_getfield(L, -1, "api");
      api = (const asamp_Api *)lua_touserdata(L, -1);
    }
  }
  lua_settop(L, top);
  return (api != NULL && api->version >= ASAMP_VERSION) ? api : NULL;
}

#endif
