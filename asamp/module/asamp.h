/* SPDX-License-Identifier: MIT */
/*
** The allocation sampler, for programs that embed Lua: start it, and be called
** with every sample, with its fate, with its death if it survived, and with every
** collection. What the profiler's files are written from, without the files.
**
** A header of its own, installed beside lua.h; there is nothing to link. In C++,
** include lua.hpp before. The code is in the module profiler.core, which asamp_api
** loads:
**
**   const asamp_Api *api = asamp_api(L);
**   const char *error = api->start(L, &options, &client);
**
** One client a state, at a time; a profile that the module profiler writes is
** one, too. Several states of a process may have clients, each its own.
**
** What is told of a sample, each at most once:
**
**   allocated -> decided               it died young, or it is not followed
**   allocated -> decided -> died       it survived, and then died
**   allocated -> decided -> left       it survived, and 'stop' came
**   allocated -> left                  'stop' came where no collection can run
**
** 'allocated' returns a value, which is the program's own; it comes back with
** all that is told of the sample later. The last of these is the place to free
** it.
**
** Callbacks are called on the OS thread that runs the state, in the middle of an
** allocation or a collection. They must not call the Lua API (the debug build
** ends the process there, with a line that names the function), nor the functions
** of asamp_Api but for 'symbol' and 'kindname' ('start', 'stop' and 'period'
** refuse there, and do nothing), nor raise an error or jump out;
** they may use malloc, locks and I/O (the program waits for them). They are
** never called inside one another. What they are given is theirs to look at
** until they return; of what lives longer, that is said.
**
** Later versions put new fields and callbacks at the end of structs, but for
** asamp_Frame, and programs need not be compiled again: the sizes in asamp_Client
** and asamp_Options say which of theirs a program knows.
*/
#ifndef asamp_h
#define asamp_h

#include <stddef.h>
#include <stdint.h>

#include "lua.h"

#define ASAMP_VERSION	5	/* of this header; grows with what it declares */

/* What was allocated. */
typedef enum asamp_Kind {
  ASAMP_TABLE, ASAMP_ARRAY, ASAMP_HASH, ASAMP_STRING, ASAMP_LUACLOSURE,
  ASAMP_CCLOSURE, ASAMP_UPVALUE, ASAMP_USERDATA, ASAMP_COROUTINE, ASAMP_STACK,
  ASAMP_PROTO, ASAMP_BUFFER,
  ASAMP_OUTSIDE		/* no block: memory or a resource outside of the heap that a
			   userdata stands for (luaN_outside of seam.h) */
} asamp_Kind;

/* A function written in Lua. Lives until 'stop'; one address a function. */
typedef struct asamp_Function {
  const char *name;	/* what its definition calls it, or "anonymous" */
  const char *source;	/* path of the file, or what error messages show */
  int linedefined;
} asamp_Function;

typedef struct asamp_Frame {
  const asamp_Function *function;  /* NULL: a native frame */
  int line;		/* where it is; 0: not known, or native */
  const void *address;	/* native: within the instruction that called */
} asamp_Frame;

typedef struct asamp_Sample {
  uint64_t number;	/* 1, 2, ...: of this client */
  uint64_t time;	/* CLOCK_MONOTONIC, ns */
  uint64_t size;	/* bytes of the block */
  uint64_t count;	/* periods that it stands for, >= 1 */
  asamp_Kind kind;
  int outside;		/* 1: obtained past the nursery */
  const asamp_Frame *frames;  /* innermost first; C frames are between those of
			   Lua, where they belong */
  size_t nframes;
  size_t shared;		/* so many of the outermost are those of the sample before,
			   lines and all */
} asamp_Sample;

/* A sample that was told before. */
typedef struct asamp_Known {
  uint64_t number;	/* as in asamp_Sample, ... */
  uint64_t size, count;
  void *value;		/* what 'allocated' returned; NULL without an 'allocated' */
} asamp_Known;

/* Every sample has one, in the order of their numbers. */
typedef struct asamp_Fate {
  int survived;		/* 1: tenured; 0: dead before a collection saw it */
  int followed;		/* 1: 'died' or 'left' will tell more; 0: it died, or
			   there is no 'died', or no room to follow it */
  const char *class_name;  /* of its metatable, or NULL. Lives until 'stop' */
} asamp_Fate;

/*
** A collection, after the fates and the deaths that it decided; times in ns, sizes
** in bytes. Collections that follow each other at once and decide nothing may be
** left out.
*/
typedef struct asamp_Collection {
  uint64_t time;	/* of its end, CLOCK_MONOTONIC */
  uint64_t duration;	/* of the pause; a minor one has the slice of a major one
			   with it, unless that is told by itself */
  uint64_t inuse, held;	/* as collectgarbage "count"; obtained from lua_Alloc */
  uint64_t rss;		/* resident set of the process */
  uint64_t tenured;	/* survived their first collection, since the one before */
  uint64_t minors, majors;  /* left out since the one before */
  int major;
  int phase;		/* of a major one that runs: 0 none, 1 marks, 2 sweeps */
  uint64_t lost;	/* periods of samples that were not told for lack of memory,
			   since 'start' */
} asamp_Collection;

/*
** Who holds a sample: the shortest path from a root of the state, in Lua's words, root
** first: "_G", "upvalue \"listeners\" of on (app.lua:3)", "[\"close\"]", "[1..n]".
** Elements of arrays are one, and so are keys of a table that more than a dozen lead
** through. Equal paths of one call of 'holders' have the same number.
*/
typedef struct asamp_Path {
  uint32_t number;	/* 1, 2, ...; 0: no path, it is dead or memory of C */
  const char *const *steps;  /* they live until the callback returns */
  size_t nsteps;
} asamp_Path;

/* Any function may be NULL. */
typedef struct asamp_Client {
  size_t size;		/* sizeof(asamp_Client) */
  void *ud;
  void *(*allocated) (void *ud, const asamp_Sample *s);
  void (*decided) (void *ud, const asamp_Known *s, const asamp_Fate *f);
  /*
  ** A major collection has found it dead, or it was freed by hand since (a hash
  ** part by a resize, say), which the next major collection or 'stop' tells. In one
  ** collection, in the order of the numbers. Without this function nothing is
  ** followed; else up to 131072 samples are.
  */
  void (*died) (void *ud, const asamp_Known *s);
  /* The client goes; when a major collection last looked, the sample was alive,
     if it has been decided at all. */
  void (*left) (void *ud, const asamp_Known *s);
  void (*collected) (void *ud, const asamp_Collection *c);
  /* For 'holders': of every sample that is followed, in the order of their numbers. */
  void (*held) (void *ud, const asamp_Known *s, const asamp_Path *p);
} asamp_Client;

typedef struct asamp_Options {
  size_t size;		/* sizeof(asamp_Options) */
  uint64_t period;	/* one sample every so many bytes: 64 to 2^62 */
  int fixed;		/* 0: exponential intervals of that mean; 1: every n-th byte */
  uint64_t seed;	/* of the intervals; 0: one of its own */
  int native;		/* 1: C stacks as well */
} asamp_Options;

typedef struct asamp_Api {
  int version;		/* ASAMP_VERSION, or a later one */
  /*
  ** Starts sampling for a client, which is copied. Returns NULL, or why it could
  ** not (a text that stays). May raise a memory error, as lua_newuserdatauv.
  */
  const char *(*start) (lua_State *L, const asamp_Options *o,
                        const asamp_Client *c);
  /*
  ** Ends it. A minor collection decides the last fates before; inside a finalizer,
  ** where none can run, these samples get none. What is followed, and what has no
  ** fate, is told to 'left'. lua_close does the same by itself. Returns 0 when
  ** there was no client of this interface.
  */
  int (*stop) (lua_State *L);
  /* Another period from here on. Returns as 'start'. */
  const char *(*period) (lua_State *L, uint64_t period);
  /*
  ** Name and object file of a native address, "" when not known, cut to the
  ** sizes. Slow: to be called once an address. From any OS thread.
  */
  void (*symbol) (const void *address, char *name, size_t namesize, char *file,
                  size_t filesize);
  /* "table", "table array part", ... */
  const char *(*kindname) (asamp_Kind kind);
  /*
  ** Tells 'held' who holds the samples that are followed (the client has 'died'). The
  ** program waits for a walk over all that can be reached, about as long as a full
  ** collection, which takes 16 bytes an object from malloc. Returns of how many samples it
  ** was told; 0 also where it cannot be: no client of this interface, no memory, or inside
  ** a callback or a finalizer that an emergency has called.
  */
  size_t (*holders) (lua_State *L);
  /*
  ** Writes a snapshot of the heap into a file, for 'asamp heap'; with where and when the
  ** samples of a client were allocated, but needs none. A process of its own writes it,
  ** that is no child which the program could wait for; the program goes on once that is
  ** made, or waits until it is written ('wait'), or writes it itself where no process can
  ** be made. A snapshot or a profile that is there is replaced, nothing else is. Returns 1;
  ** 0: there is none, and 'err' (which may be NULL) has a line that says why.
  */
  int (*snapshot) (lua_State *L, const char *path, int wait, char *err, size_t errsize);
  /*
  ** Sets a label of thread L, as profiler.label does: what profiles tell apart of the
  ** work that it does from here on, and of the threads that it makes. value NULL takes
  ** it off. Names and values are copied, and cut to 255 bytes. May be called whether the
  ** state is sampled or not. Returns as 'start'.
  */
  const char *(*label) (lua_State *L, const char *name, const char *value);
} asamp_Api;

/*
** Loads the module. NULL: it is not there (the state has no 'require', or its
** package.cpath no profiler/core.so), or it is older than this header, or it cannot
** call this Lua (require "profiler" says why).
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
