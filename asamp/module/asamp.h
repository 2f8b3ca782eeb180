/* SPDX-License-Identifier: MIT */
/*
** The C interface of the allocation sampler, for programs that embed Lua. A program starts the
** sampling of a Lua state; its callbacks receive each sample, its outcome, deaths and collections.
** Nothing has to be linked: the functions are in the Lua module profiler.core. In C++, include
** lua.hpp first.
**
**   const asamp_Api *api = asamp_api(L);
**   const char *error = api->start(L, &options, &client);
**
** The callbacks of one sample are 'allocated', then 'decided', which reports whether the block
** survived its first collection. If asamp_Fate.followed is 1, 'died' follows. When the sampling
** stops, 'left' replaces a 'decided' or 'died' that is still due. All later callbacks of a sample
** receive the pointer that 'allocated' returned; free it in the last one.
**
** Callbacks run on the state's OS thread, during an allocation or a collection, and are never
** nested. They must not call the Lua API, raise errors or use longjmp; of asamp_Api they may call
** 'symbol' and 'kindname'. Their arguments are valid until they return.
**
** Later versions add fields only at the end of structs. Programs that were built with an older
** version still work, because the field 'size' of a struct shows which fields it has.
*/
#ifndef asamp_h
#define asamp_h

#include <stddef.h>
#include <stdint.h>

#include "lua.h"

#define ASAMP_VERSION	6	/* Version of this header. */

/* Types of allocated blocks. */
typedef enum asamp_Kind {
  ASAMP_TABLE, ASAMP_ARRAY, ASAMP_HASH, ASAMP_STRING, ASAMP_LUACLOSURE,
  ASAMP_CCLOSURE, ASAMP_UPVALUE, ASAMP_USERDATA, ASAMP_COROUTINE, ASAMP_STACK,
  ASAMP_PROTO, ASAMP_BUFFER,
  ASAMP_OUTSIDE		/* Memory or a resource outside the Lua heap that a userdata owns
                           (luaN_outside of seam.h). */
} asamp_Kind;

/* A function written in Lua. The struct is valid until 'stop'. There is one struct for each
   combination of name, source and line. */
typedef struct asamp_Function {
  /* The function's name.
     - usually from its definition; "main chunk" or "anonymous" if it has none there
     - "(tail call)": represents callers that tail calls have replaced
     - "?": represents frames left out of a long stack, or a function that could not be stored for
       lack of memory */
  const char *name;
  const char *source;	/* Path of the function's file, or its chunk name. */
  int linedefined;	/* Line of the function's definition; 0: none. */
} asamp_Function;

typedef struct asamp_Frame {
  const asamp_Function *function;  /* The frame's Lua function; NULL: a native frame. */
  int line;		/* Source line that is executed; 0: unknown, or a native frame. */
  /* Address in the code of a native frame, NULL in a Lua frame. Usually the address of a byte of
     the call instruction that the function is executing; the start of the function if no address
     inside it was found. */
  const void *address;
} asamp_Frame;

typedef struct asamp_Sample {
  uint64_t number;	/* Number of the sample, counted from 1 for each client. */
  uint64_t time;	/* Time of the allocation: CLOCK_MONOTONIC, ns. */
  uint64_t size;	/* Size of the block in bytes, as the heap has rounded it up. */
  uint64_t count;	/* Number of sampling periods that the sample represents, >= 1. */
  asamp_Kind kind;	/* Type of the block. */
  int outside;		/* 1: allocated outside the nursery (the area for new objects). */
  const asamp_Frame *frames;  /* The whole stack, innermost frame first. C frames are included if
                                 asamp_Options.native is set. */
  size_t nframes;	/* Number of frames. */
  size_t shared;		/* Number of outermost frames that are equal, lines included, to
                                   those of the previous sample. */
} asamp_Sample;

/* A sample reported earlier. */
typedef struct asamp_Known {
  uint64_t number;	/* As in asamp_Sample. */
  uint64_t size, count;	/* As in asamp_Sample. */
  void *value;		/* The pointer that the callback 'allocated' has returned for this sample;
                           NULL if there is no such callback. */
} asamp_Known;

/* Outcome of a sample: whether its block survived. Outcomes are reported in the order of the
   samples. */
typedef struct asamp_Fate {
  int survived;		/* 1: alive at the first collection after its allocation; 0: dead, or freed
                           before. */
  /* 1: 'died' or 'left' will be called for this sample. 0: the block is dead, or its death is not
     followed, because the client has no callback 'died' or too many samples are followed. */
  int followed;
  /* Class of the object: the field __name of its metatable, or a path to the metatable. NULL: none.
     Valid until 'stop'. */
  const char *class_name;
} asamp_Fate;

/* A collection. The outcomes and deaths that a collection has found are reported before the
   collection. A collection that has found no outcome and no death may be left out if it ends within
   10 ms after a reported collection. Times are in ns, sizes in bytes. */
typedef struct asamp_Collection {
  uint64_t time;	/* End of the pause: CLOCK_MONOTONIC, ns. */
  uint64_t duration;	/* Length of the pause, ns. */
  /* 'inuse': bytes in use, as in collectgarbage "count". 'held': bytes reserved from lua_Alloc or
     mapped. */
  uint64_t inuse, held;
  uint64_t rss;		/* Resident bytes of the process, up to 0.1 s old. */
  /* Bytes that became old since the last report. Most objects become old when they survive one
     collection, large strings when they survive three. */
  uint64_t tenured;
  /* Numbers of minor and of major collections that were left out since the previous report. */
  uint64_t minors, majors;
  int major;		/* 1: a full collection, or the last marking slice of a major collection; 0:
                           a minor collection. */
  int phase;		/* Phase of the major collection after this pause: 0 none, 1 marking, 2
                           sweeping. */
  uint64_t lost;	/* Number of sampling periods since 'start' that were not reported for lack
                           of memory. */
} asamp_Collection;

/*
** The shortest path of references from a root of the state to a sampled object. A step is a text
** that describes one reference, such as "[\"close\"]" or "upvalue \"listeners\" of on (app.lua:3)".
** The first step describes the root, such as "_G". The step "[1..n]" represents all elements of an
** array. In one call of 'holders', equal paths have equal numbers.
*/
typedef struct asamp_Path {
  uint32_t number;	/* Number of the path, from 1; 0: the object is dead, or no path to it was
                           found. */
  const char *const *steps;  /* Texts of the references, the root first. Valid during the
                                callback. */
  size_t nsteps;	/* Number of steps. */
} asamp_Path;

/* The callbacks of a client. Each may be NULL. */
typedef struct asamp_Client {
  size_t size;		/* sizeof(asamp_Client). */
  void *ud;		/* Passed to all callbacks. */
  /* Reports a new sample. Returns a pointer that the later callbacks of this sample receive. */
  void *(*allocated) (void *ud, const asamp_Sample *s);
  /* Reports the outcome of a sample. */
  void (*decided) (void *ud, const asamp_Known *s, const asamp_Fate *f);
  /* Reports the death of a survivor: a major collection has found it dead, or it was freed
     explicitly. At most 131072 survivors at a time are followed until their death. If this callback
     is NULL, no survivor is followed. */
  void (*died) (void *ud, const asamp_Known *s);
  /* Reports, when the sampling stops, a sample without an outcome, or a followed survivor that is
     alive. */
  void (*left) (void *ud, const asamp_Known *s);
  void (*collected) (void *ud, const asamp_Collection *c);	/* Reports a collection. */
  /* Reports the path of references to a survivor. The function 'holders' calls this callback for
     the survivors in the order of asamp_Known.number. */
  void (*held) (void *ud, const asamp_Known *s, const asamp_Path *p);
} asamp_Client;

typedef struct asamp_Options {
  size_t size;		/* sizeof(asamp_Options). */
  uint64_t period;	/* Mean distance between samples, bytes: 64 to 2^62. */
  int fixed;		/* Distances between samples. 0: exponentially distributed; 1: constant. */
  uint64_t seed;	/* Seed of the random distances between samples; 0: a random seed. */
  int native;		/* 1: stacks include C frames. */
} asamp_Options;

#define ASAMP_KINDS	((int)ASAMP_OUTSIDE + 1)

/* Exact counts of a state's allocations. They grow only while a count runs (count_start). To count
   the allocations of a piece of code, read the counts before and after it and subtract. */
typedef struct asamp_Counts {
  size_t size;		/* sizeof(asamp_Counts). */
  uint64_t bytes;	/* Bytes of all kinds except ASAMP_STACK (call frames and grown stacks). */
  /* Blocks of all kinds except ASAMP_STACK. A block counts when it is allocated, and each time it
     grows. */
  uint64_t blocks;
  uint64_t kindbytes[ASAMP_KINDS];  /* Bytes of each kind, indexed by asamp_Kind. */
  uint64_t kindblocks[ASAMP_KINDS];  /* Blocks of each kind, indexed by asamp_Kind. */
} asamp_Counts;

/* The functions of this interface. Except 'symbol' and 'kindname', call them only where the Lua API
   may be called. */
typedef struct asamp_Api {
  int version;		/* ASAMP_VERSION of the module. */
  /* Starts the sampling of the state. Copies *o and *c. Returns NULL, or the reason of the failure
     as a static string. May raise a memory error. */
  const char *(*start) (lua_State *L, const asamp_Options *o,
                        const asamp_Client *c);
  /* Stops the sampling, as lua_close also does. Runs a minor collection to find the last outcomes,
     calls 'left' for the remaining samples, then removes the client. Returns 0 if there is no
     client. */
  int (*stop) (lua_State *L);
  /* Changes the sampling period, in bytes. Returns NULL or the reason of the failure. */
  const char *(*period) (lua_State *L, uint64_t period);
  /* Writes the names of the function and the object file to which a code address belongs; "" if
     unknown. Long names are cut. Slow. Thread-safe. */
  void (*symbol) (const void *address, char *name, size_t namesize, char *file,
                  size_t filesize);
  /* Returns the name of a kind, such as "table array part". */
  const char *(*kindname) (asamp_Kind kind);
  /* Calls 'held' for each live survivor with 'followed' 1 (asamp_Fate). Takes about as long as a
     full collection. Needs up to 16 bytes of memory from malloc per object. Returns the number of
     calls, or 0 on failure. */
  size_t (*holders) (lua_State *L);
  /* Writes a snapshot of the heap to the file 'path', for 'asamp heap'. No client is needed. A
     forked child writes the file. If 'wait' is 0, the function does not wait for the child.
     Overwrites only snapshots and profiles. Returns 0 with a line in 'err' on failure. */
  int (*snapshot) (lua_State *L, const char *path, int wait, char *err, size_t errsize);
  /* Sets a label of thread L; 'value' NULL removes it. In profiles, the samples of L and of
     coroutines that L creates later carry the label. Copies name and value, cut to 255 bytes.
     Returns NULL or the reason of the failure. */
  const char *(*label) (lua_State *L, const char *name, const char *value);
  /* Starts a count of the state's allocations, which lasts until count_stop. Several counts may
     overlap. Returns NULL or the reason of the failure. */
  const char *(*count_start) (lua_State *L);
  /* Ends a count that count_start started. Returns NULL or the reason of the failure. */
  const char *(*count_stop) (lua_State *L);
  /* Copies the counts of the state to *to. Returns 0 in a callback, or if to->size is not
     sizeof(asamp_Counts). */
  int (*count) (lua_State *L, asamp_Counts *to);
  /* Runs two full collections and returns the bytes in use, without the state itself, L, the main
     thread and the stacks of both. Returns 0 in a finalizer or a callback, where no collection can
     run. */
  uint64_t (*alive) (lua_State *L);
} asamp_Api;

/* Loads the module profiler.core and returns its interface. Returns NULL if the module is older
   than this header, or if it cannot be loaded; in the latter case, require "profiler" raises an
   error with the reason. May raise a memory error. */
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
