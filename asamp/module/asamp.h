/* SPDX-License-Identifier: MIT */
/*
** The C interface of the allocation sampler, for programs that embed Lua. A program starts
** sampling and receives callbacks for every sample, its survival outcome, its death if it
** survived, and every collection: the events from which the profiler writes its files, without
** the files.
**
** Installed next to lua.h as a header of its own; there is nothing to link. In C++, include
** lua.hpp first. The code is in the Lua module profiler.core, which asamp_api loads:
**
**   const asamp_Api *api = asamp_api(L);
**   const char *error = api->start(L, &options, &client);
**
** A state has at most one client at a time. A profile that the module profiler writes counts as
** one. Several states of a process may each have a client.
**
** The callbacks of one sample come in one of these orders, each at most once:
**
**   allocated -> decided               it died young, or it is not followed
**   allocated -> decided -> died       it survived, and died later
**   allocated -> decided -> left       it survived, and 'stop' was called
**   allocated -> left                  'stop' was called where no collection can run
**
** 'allocated' returns a pointer of the program's own, which all later callbacks of the sample
** receive. The program can free it in the last of them.
**
** Callbacks run on the OS thread that runs the state, in the middle of an allocation or a
** collection. A callback must not call the Lua API (the debug build ends the process with a
** line that names the function), must not call functions of asamp_Api except 'symbol' and
** 'kindname' ('start', 'stop', 'period' and the others refuse and do nothing), and must not
** raise an error or jump out. It may use malloc, locks and I/O; the program waits for it.
** Callbacks are never nested. Pointers that a callback receives are valid until it returns,
** unless a longer life is documented.
**
** Later versions add fields and callbacks at the end of structs, except asamp_Frame, and
** programs need not be recompiled: the sizes in asamp_Client and asamp_Options say which fields
** a program has.
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

/* A function written in Lua. Valid until 'stop'. Each function has one address. */
typedef struct asamp_Function {
  const char *name;	/* Name from its definition, or "anonymous". "(tail call)" is the name of
			   a frame in place of callers that tail calls have replaced. */
  const char *source;	/* Path of its file, or the chunk name as error messages show it. */
  int linedefined;	/* Line of its definition. */
} asamp_Function;

typedef struct asamp_Frame {
  const asamp_Function *function;  /* NULL: a native frame. */
  int line;		/* Current line; 0: unknown, or a native frame. */
  const void *address;	/* Native frames: an address within the calling instruction; else NULL. */
} asamp_Frame;

typedef struct asamp_Sample {
  uint64_t number;	/* Number of the sample within this client: 1, 2, ... */
  uint64_t time;	/* Time of the allocation: CLOCK_MONOTONIC, ns. */
  uint64_t size;	/* Size of the block in bytes. */
  uint64_t count;	/* Number of sampling periods that the sample represents, >= 1. */
  asamp_Kind kind;	/* Type of the block. */
  int outside;		/* 1: allocated outside the nursery. */
  const asamp_Frame *frames;  /* The whole stack, innermost frame first. C frames stand at
			         their positions among the Lua frames. */
  size_t nframes;	/* Number of frames. */
  size_t shared;		/* Number of outermost frames that are equal, lines included,
				   to those of the previous sample. */
} asamp_Sample;

/* A sample that was reported to 'allocated' earlier. */
typedef struct asamp_Known {
  uint64_t number;	/* Number of the sample, as in asamp_Sample. */
  uint64_t size, count;
  void *value;		/* Pointer that 'allocated' returned; NULL if the client has no
			   'allocated'. */
} asamp_Known;

/*
** Survival outcome of a sample. Reported once for each sample, in the order of their numbers.
*/
typedef struct asamp_Fate {
  int survived;		/* 1: alive at its first collection and tenured; 0: dead before it. */
  int followed;		/* 1: 'died' or 'left' will be called later; 0: it died, or the client
			   has no 'died', or the limit of followed samples is reached. */
  const char *class_name;  /* Name in the object's metatable, or NULL. Valid until 'stop'. */
} asamp_Fate;

/*
** A collection. Reported after the survival outcomes and the deaths that it decided. Times are
** in ns, sizes in bytes. Of consecutive collections that decide nothing, some are not reported.
*/
typedef struct asamp_Collection {
  uint64_t time;	/* End of the collection, CLOCK_MONOTONIC. */
  uint64_t duration;	/* Length of the pause. The pause of a minor collection includes the
			   slice of a major one that runs with it, unless that slice is
			   reported as a collection of its own. */
  uint64_t inuse, held;	/* Bytes in use, as collectgarbage "count"; bytes reserved from
			   lua_Alloc. */
  uint64_t rss;		/* Resident set size of the process. */
  uint64_t tenured;	/* Bytes that survived their first collection since the collection
			   reported before. */
  uint64_t minors, majors;  /* Number of minor and of major collections since the one reported
			       before, which were not reported. */
  int major;	/* 1: a major collection, or a slice of one. */
  int phase;		/* Phase of a running major collection: 0 none, 1 marking, 2 sweeping. */
  uint64_t lost;	/* Sampling periods, since 'start', of samples that were dropped
			   because there was no memory for them. */
} asamp_Collection;

/*
** The shortest path of references from a root of the state to a sampled object. The steps are
** written in terms of Lua, root first: "_G", "upvalue \"listeners\" of on (app.lua:3)",
** "[\"close\"]", "[1..n]". All elements of an array are one step, and so are the keys of a
** table of which more than twelve lead to samples. Within one call of 'holders', equal paths
** have equal numbers.
*/
typedef struct asamp_Path {
  uint32_t number;	/* Number of the path: 1, 2, ...; 0: no path, because the object is
			   dead or is memory of C code. */
  const char *const *steps;  /* Steps of the path, root first. Valid until the callback returns. */
  size_t nsteps;	/* Number of steps. */
} asamp_Path;

/* The callbacks of a client. Any of them may be NULL. */
typedef struct asamp_Client {
  size_t size;		/* sizeof(asamp_Client), as the program was compiled. */
  void *ud;
  /* Reports a new sample. Returns a pointer that later callbacks of the sample receive. */
  void *(*allocated) (void *ud, const asamp_Sample *s);
  /* Reports the survival outcome of a sample. */
  void (*decided) (void *ud, const asamp_Known *s, const asamp_Fate *f);
  /*
  ** Reports that a followed sample is dead: a major collection found it dead, or it was freed
  ** explicitly (a hash part by a resize, for example), which the next major collection or
  ** 'stop' reports. Deaths of one collection are reported in the order of the numbers. Without
  ** this callback no sample is followed; with it at most 131072 samples are.
  */
  void (*died) (void *ud, const asamp_Known *s);
  /* Reports that the client ends before the death of the sample is known. If its survival
     was decided, the sample was alive at the last major collection. */
  void (*left) (void *ud, const asamp_Known *s);
  void (*collected) (void *ud, const asamp_Collection *c);	/* Reports a collection. */
  /* Reports the path to a sample. Called by 'holders' for every followed sample, in the
     order of the numbers. */
  void (*held) (void *ud, const asamp_Known *s, const asamp_Path *p);
} asamp_Client;

typedef struct asamp_Options {
  size_t size;		/* sizeof(asamp_Options), as the program was compiled. */
  uint64_t period;	/* Mean distance between two samples in bytes: 64 to 2^62. */
  int fixed;		/* 0: exponentially distributed distances with the mean 'period'; 1:
			   constant distances. */
  uint64_t seed;	/* Seed of the random distances; 0: the sampler chooses one. */
  int native;		/* 1: C frames are reported too. */
} asamp_Options;

#define ASAMP_KINDS	((int)ASAMP_OUTSIDE + 1)

/* Counts of allocations of a state. The difference of two reads is that of the code between. */
typedef struct asamp_Counts {
  size_t size;		/* sizeof(asamp_Counts) */
  uint64_t bytes;	/* The bytes counted, of all kinds except ASAMP_STACK. That kind has
			   stacks that grow and frames of calls; the first stack of a coroutine
			   counts as part of the coroutine. */
  uint64_t blocks;	/* Number of blocks of the same kinds. A block counts once, and once more
			   each time it has grown. */
  uint64_t kindbytes[ASAMP_KINDS];  /* by asamp_Kind */
  uint64_t kindblocks[ASAMP_KINDS];
} asamp_Counts;

typedef struct asamp_Api {
  int version;		/* ASAMP_VERSION of the module, at least that of this header. */
  /* Starts sampling of the state for the client, which is copied. Returns NULL, or the
     reason of the failure, a string that stays valid. May raise a memory error, like
     lua_newuserdatauv. */
  const char *(*start) (lua_State *L, const asamp_Options *o,
                        const asamp_Client *c);
  /*
  ** Ends sampling of the state. First runs a minor collection that decides the survival of the
  ** last samples; inside a finalizer, where no collection can run, these samples remain
  ** undecided. Then calls 'left' for the followed and the undecided samples. lua_close does the
  ** same implicitly. Returns 0 if the state has no client of this interface.
  */
  int (*stop) (lua_State *L);
  /* Sets another period from this call on. Returns NULL or the reason of the failure, like
     'start'. */
  const char *(*period) (lua_State *L, uint64_t period);
  /* Writes the name and the object file of a native address into the buffers, truncated to
     their sizes; "" if unknown. Slow: call it once for each address. Thread-safe. */
  void (*symbol) (const void *address, char *name, size_t namesize, char *file,
                  size_t filesize);
  /* Returns the name of a type: "table", "table array part", ... */
  const char *(*kindname) (asamp_Kind kind);
  /*
  ** Calls 'held' for every followed sample (which requires the callback 'died'). Visits all
  ** reachable objects, for about as long as a full collection, while the program waits;
  ** allocates 16 bytes per object with malloc. Returns the number of samples reported; 0 also
  ** on failure: the state has no client of this interface, memory is exhausted, or it is called
  ** in a callback or in a finalizer of an emergency collection.
  */
  size_t (*holders) (lua_State *L);
  /*
  ** Writes a snapshot of the heap to the file 'path', for 'asamp heap'. Needs no client; if
  ** there is one, the snapshot holds site and time of the sampled allocations. A forked process
  ** writes it, which the program never sees as a child to wait for. Returns after the fork, or
  ** after the file is written if 'wait' is set. If no process can be made, this process writes
  ** the file. Replaces an existing snapshot or profile at 'path', but no other file. Returns 1.
  ** On failure returns 0 and writes one line with the reason to 'err', which may be NULL.
  */
  int (*snapshot) (lua_State *L, const char *path, int wait, char *err, size_t errsize);
  /*
  ** Sets a label of thread L, like profiler.label. Profiles distinguish by labels the work that
  ** L does from now on, and that of coroutines it creates. value NULL removes the label. Copies
  ** name and value, each truncated to 255 bytes. May be called whether or not the state is
  ** sampled. Returns NULL or the reason of the failure, like 'start'.
  */
  const char *(*label) (lua_State *L, const char *name, const char *value);
  /*
  ** Starts to count the state's blocks, and the bytes by kind; needs no client. Each start
  ** needs a count_stop; they nest. Returns as 'start'. Allocates nothing.
  */
  const char *(*count_start) (lua_State *L);
  void (*count_stop) (lua_State *L);
  /* Reads the counts. Returns 0 if 'to' is of another size than this version knows. */
  int (*count) (lua_State *L, asamp_Counts *to);
  /* Runs two full collections, the second for objects that had finalizers. Returns the bytes in
     use after them, without those of L and the main thread with their stacks
     and of the table of strings; 0 where none can run: in a finalizer or in a callback. */
  uint64_t (*alive) (lua_State *L);
} asamp_Api;

/*
** Loads the module profiler.core and returns its interface. Returns NULL if the module is
** missing (the state has no 'require', or its package.cpath does not find profiler/core.so), is
** older than this header, or cannot call this Lua (then require "profiler" raises an error with
** the reason).
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
