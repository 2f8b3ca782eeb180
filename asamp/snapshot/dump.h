/* SPDX-License-Identifier: MIT */
/* Encodes a heap snapshot: walks the heap (luaN_walk) and passes the bytes (heapformat.h) to a
   sink. dump_walk calls neither malloc nor other functions of Lua, so it can run in a forked
   child. */
#ifndef asamp_dump_h
#define asamp_dump_h

#include "lua.h"

struct Tracker;

#include <stddef.h>
#include <stdint.h>

#define DUMP_PIECE	65536  /* largest number of bytes in one call of the sink */
/* Largest number of bytes written after one call of dump_room: a record, or one half of a HEAP_SITE
   record (allocation site). */
#define DUMP_LONGEST	(HEAP_TEXT + 64)

/* Receives the next n bytes of the snapshot. 'ud' is Dump.ud. Returns 0 to stop dump_walk. */
typedef int (*DumpSink) (void *ud, const unsigned char *data, size_t n);

typedef struct Dump {
  DumpSink sink;
  void *ud;			/* first argument of 'sink' and 'memory' */
  void *(*memory) (void *ud, void *block, size_t old, size_t size);	/* like lua_Alloc */
  /* The tracker whose samples of live objects are written; NULL: no samples are written. */
  const struct Tracker *tracker;
  /* Time of the snapshot (CLOCK_MONOTONIC, ns), from which the ages of samples are computed. */
  uint64_t time;
  /* 'objects', 'edges': numbers of objects and edges written so far. 'bytes': bytes of these
     objects. */
  uint64_t objects, edges, bytes;
  /* Address of the object written last; while samples are written, address of the last sample's
     object. */
  uint64_t last;
  /* Address of the object whose edges are written; 0: the edges from the roots are written. */
  uint64_t from;
  int64_t index;		/* array index in the last edge written for the object 'from' */
  size_t n;			/* bytes in 'buffer' */
  unsigned char buffer[DUMP_PIECE];
} Dump;

/* Writes the first bytes of the snapshot, which identify the format. All fields of *d except
   'sink', 'ud' and 'memory' must be zero. 'tracker' and 'time' may be set later, before
   dump_walk. */
void dump_start (Dump *d);

/* Writes a meta record: a key of at most 32 bytes, and a text cut to HEAP_TEXT bytes. Call it
   before dump_walk. */
void dump_meta (Dump *d, const char *key, const char *value);
/* Writes a meta record with a number as its text. Call it before dump_walk. */
void dump_number (Dump *d, const char *key, uint64_t n);

/* Writes the name of the C function at the address 'code'. Call it before dump_walk. */
void dump_code (Dump *d, const void *code, const char *name);

/* Writes objects, edges, samples and the end of the snapshot. Call it once, where seam.h allows
   luaN_walk. Returns LUAN_WALKED if the snapshot is complete, LUAN_STOPPED if the sink has returned
   0, LUAN_NOMEMORY, or LUAN_BUSY (the collector is in the middle of a step). */
int dump_walk (Dump *d, lua_State *L);

#endif
