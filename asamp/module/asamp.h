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
** a client. Several states of a process may each have a client. In the child of a fork, the client
** stays.
**
** The callbacks of one sample are called in one of these orders, each at most once:
**
**   allocated -> decided               it died young, or it is not followed
**   allocated -> decided -> died       it survived, and died later
**   allocated -> decided -> left       it survived, and the client ended before its death
**   allocated -> left                  the client ended where no collection can run
**
** 'allocated' returns a pointer to data of the program, which all later callbacks of the sample
** receive. The program can free the data in the last of these callbacks.
**
** Callbacks run on the OS thread that runs the state, usually in the middle of an allocation or a
** collection. So a callback must not call the Lua API; the debug build then ends the process with a
** line that names the function. It must not call functions of asamp_Api except 'symbol' and
** 'kindname'; the others do nothing and report a failure. It must not raise an error or jump out.
** It may use malloc, locks and I/O; the program waits for it. Callbacks are never nested. Pointers
** that a callback receives are valid until it returns, unless a longer life is stated.
**
** Programs need not be recompiled for later versions, which add fields and callbacks only at the
** end of structs, and none to asamp_Frame. The field 'size' of asamp_Client and asamp_Options shows
** which fields a program has.
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
  int linedefined;	/* Line of its definition; 0: a main chunk, or no function. */
} asamp_Function;

typedef struct asamp_Frame {
  const asamp_Function *function;  /* NULL: a native frame. */
  int line;		/* Current line; 0: unknown, or a native frame. */
  const void *address;	/* Code address of a native frame: within its call instruction, or the
			   start of a C function that yielded. NULL: the frame is not native. */
} asamp_Frame;

typedef struct asamp_Sample {
  uint64_t number;	/* Number of the sample within this client: 1, 2, ... */
  uint64_t time;	/* Time of the allocation: CLOCK_MONOTONIC, ns. */
  uint64_t size;	/* Size of the block in bytes, rounded up as the heap does. */
  uint64_t count;	/* Number of sampling periods that the sample represents, >= 1. */
  asamp_Kind kind;	/* Type of the block. */
  int outside;		/* 1: allocated outside the nursery. */
  const asamp_Frame *frames;  /* The whole stack, innermost frame first. With the option
			         'native', the C frames are among the Lua frames that
			         they call or that call them. */
  size_t nframes;	/* Number of frames. */
  size_t shared;		/* Number of outermost frames that have not changed, lines
			   included, since the previous sample. */
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
  int survived;		/* 1: alive at the first collection after its allocation; 0: it was dead,
			   or had been freed, by then. */
  int followed;		/* 1: 'died' or 'left' will be called later; 0: it died, or the client
			   has no 'died', or the limit of followed samples is reached. */
  const char *class_name;  /* Name in the object's metatable, or NULL. Valid until 'stop'. */
} asamp_Fate;

/*
** A collection. Reported after the survival outcomes and the deaths that it decided. Times are
** in ns, sizes in bytes. Some collections are not reported, if they decide nothing and follow one
** another within 10 ms.
*/
typedef struct asamp_Collection {
  uint64_t time;	/* End of the collection, CLOCK_MONOTONIC. */
  uint64_t duration;	/* Length of the pause. The pause of a minor collection includes the
			   slice of a major one that runs with it, unless that slice is
			   reported as a collection of its own. */
  uint64_t inuse, held;	/* Bytes in use, as collectgarbage "count"; bytes reserved: obtained from
			   lua_Alloc, or mapped. */
  uint64_t rss;		/* Resident set size of the process, measured up to 0.1 s before. */
  uint64_t tenured;	/* Bytes that became old since the previously reported collection. Most
			   objects become old when they survive their first collection, large
			   strings when they survive their third. */
  uint64_t minors, majors;  /* Numbers of unreported minor and major collections since the
			       previously reported one. */
  int major;	/* 1: a full collection, or the slice in which a major one ends its
			   marking; 0: a minor collection. */
  int phase;		/* Phase of the major collection afterwards: 0 none, 1 marking, 2
			   sweeping. */
  uint64_t lost;	/* Samples that were dropped since 'start' because there was no memory
			   for them, as a number of sampling periods. */
} asamp_Collection;

/*
** The shortest path of references from a root of the state to a sampled object. The steps are
** written in terms of Lua, root first: "_G", "upvalue \"listeners\" of on (app.lua:3)",
** "[\"close\"]", "[1..n]". All elements of an array are one step. The fields of a table are one
** step if more than twelve of them lead to samples, except in _G, the registry and package.loaded.
** Within one call of 'holders', equal paths have equal numbers.
*/
typedef struct asamp_Path {
  uint32_t number;	/* Number of the path: 1, 2, ... 0: there is no path, because the object
			   is dead, or the sample is of memory of C code. */
  const char *const *steps;  /* Steps of the path, root first. Valid until the callback returns. */
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
  /* Reports that the client ends while the sample is undecided or followed. No collection has
     found a followed sample dead so far. */
  void (*left) (void *ud, const asamp_Known *s);
  void (*collected) (void *ud, const asamp_Collection *c);	/* Reports a collection. */
  /* Reports the path to a sample. 'holders' calls it for every followed sample, in the order of
     the numbers. */
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
  uint64_t bytes;	/* Allocated bytes of all kinds except ASAMP_STACK, which is the kind of
			   call frames and of stacks that have grown. The first stack of a
			   coroutine counts as ASAMP_COROUTINE. */
  uint64_t blocks;	/* Number of blocks of the same kinds. A block counts when it is allocated,
			   and again each time it grows. */
  uint64_t kindbytes[ASAMP_KINDS];  /* Bytes by asamp_Kind, with ASAMP_STACK. */
  uint64_t kindblocks[ASAMP_KINDS];  /* Blocks by asamp_Kind, with ASAMP_STACK. */
} asamp_Counts;

/* The functions. Except 'symbol' and 'kindname', call them only where the Lua API may be called. */
typedef struct asamp_Api {
  int version;		/* ASAMP_VERSION of the module, at least that of this header. */
  /* Starts the sampling of the state. Copies the structs of options and client. Returns NULL, or
     the reason of the failure, a string that stays valid. May raise a memory error, like
     lua_newuserdatauv. */
  const char *(*start) (lua_State *L, const asamp_Options *o,
                        const asamp_Client *c);
  /*
  ** Ends the sampling of the state and removes its client. First runs a minor collection, which
  ** decides the survival of the last samples; inside a finalizer, where no collection can run,
  ** these samples remain undecided. Then calls 'left' for the followed and the undecided samples.
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
  ** Calls 'held' for every followed sample; without the callback 'died' there are none. Visits all
  ** reachable objects while the program waits, which takes about as long as a full collection.
  ** Allocates up to about 16 bytes per object with malloc. Returns the number of samples reported.
  ** Returns 0 on failure: the state has no client of this interface, memory is exhausted, or the
  ** call comes from a callback, or from lua_Alloc during a collection.
  */
  size_t (*holders) (lua_State *L);
  /*
  ** Writes a snapshot of the heap to the file 'path', for 'asamp heap'. Needs no client; if the
  ** state is sampled, the snapshot has the site and time of each live sample. A forked process
  ** writes the file; the program's wait() does not find that process. If no process can be made,
  ** this process writes the file. If 'wait' is 0 and fewer than 16 snapshots are being written,
  ** returns after the fork, else after the file is written. Replaces an existing snapshot or
  ** profile at 'path', but no other file. Returns 1. On failure returns 0 and writes one line with
  ** the reason to 'err', which may be NULL.
  */
  int (*snapshot) (lua_State *L, const char *path, int wait, char *err, size_t errsize);
  /*
  ** Sets a label of thread L, like profiler.label. In profiles, the samples taken from now on
  ** while L runs carry the label, and so do those of coroutines that L then creates. A 'value' of
  ** NULL removes the label. Copies name and value, each truncated to 255 bytes. The state need not
  ** be sampled. Returns NULL or the reason of the failure, like 'start'.
  */
  const char *(*label) (lua_State *L, const char *name, const char *value);
  /*
  ** Starts to count the state's allocations (asamp_Counts); needs no client. Each count_start
  ** needs a count_stop; the pairs may be nested. Returns like 'start'. Allocates nothing.
  */
  const char *(*count_start) (lua_State *L);
  void (*count_stop) (lua_State *L);
  /* Copies the counts to *to. Returns 1; in a callback, or if to->size is not sizeof(asamp_Counts)
     of this version, returns 0 and changes nothing. */
  int (*count) (lua_State *L, asamp_Counts *to);
  /* Runs two full collections, the second for objects whose finalizers the first has called.
     Returns the bytes in use after them, minus those that belong to no object (the state, the table
     of strings), and minus those of the thread L, the main thread, and their stacks. Returns 0
     where no collection can run: in a finalizer or in a callback. */
  uint64_t (*alive) (lua_State *L);
} asamp_Api;

/*
** Loads the module profiler.core and returns its interface. Returns NULL if the module is missing,
** is older than this header, or cannot call this Lua. It is missing if the state has no 'require',
** or package.cpath does not lead to profiler/core.so. If it cannot call this Lua, require
** "profiler" raises an error with the reason. May raise a memory error.
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
