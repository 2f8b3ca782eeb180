/* SPDX-License-Identifier: MIT */
/*
** The encoder of heap snapshots. It walks a heap (luaN_walk of seam.h) and passes the bytes of a
** snapshot (heapformat.h) to a sink in pieces. Its memory is the struct Dump, and blocks from the
** callback 'memory', which the walk also uses. dump_walk calls neither malloc nor a function of Lua
** except luaN_walk, so that it can run in a forked child.
*/
#ifndef asamp_dump_h
#define asamp_dump_h

#include "lua.h"

struct Tracker;

#include <stddef.h>
#include <stdint.h>

#define DUMP_PIECE	65536  /* bytes of the buffer: the largest piece that the sink receives */
/* Largest number of bytes of a record. A HEAP_SITE may be longer; each of its halves has at most
   this number of bytes. */
#define DUMP_LONGEST	(HEAP_TEXT + 64)

/* Receives the next n bytes of the snapshot. Returns 0 to stop the walk. */
typedef int (*DumpSink) (void *ud, const unsigned char *data, size_t n);

typedef struct Dump {
  DumpSink sink;
  void *ud;			/* first argument of 'sink' and 'memory' */
  void *(*memory) (void *ud, void *block, size_t old, size_t size);	/* as lua_Alloc */
  const struct Tracker *tracker;	/* the tracker whose live samples are written; NULL: no
					   samples */
  uint64_t time;		/* time of the snapshot (CLOCK_MONOTONIC, ns), from which the ages
				   of samples are computed */
  uint64_t objects, edges, bytes;	/* numbers of objects and edges written so far, and bytes of
					   these objects */
  uint64_t last;		/* address of the previous object, or of the object to which the
				   block of the previous sample belongs */
  uint64_t from;		/* address of the object whose edges are being written; 0: the edges
				   of the roots are being written */
  int64_t index;		/* index of the previous array element of 'from' */
  size_t n;			/* bytes in 'buffer' */
  unsigned char buffer[DUMP_PIECE];
} Dump;

/*
** Starts the encoding with the magic bytes. All fields of *d must be zero except 'sink', 'ud' and
** 'memory'. The caller may also set 'tracker' and 'time', at any time before dump_walk.
*/
void dump_start (Dump *d);

/*
** Write a meta record (a key and a value), which states a fact about the snapshot. dump_meta writes
** a text, cut to HEAP_TEXT bytes, dump_number a number. The key has at most 32 bytes. To be called
** between dump_start and dump_walk.
*/
void dump_meta (Dump *d, const char *key, const char *value);
void dump_number (Dump *d, const char *key, uint64_t n);

/* Writes the name of the C function at the address 'code'. To be called between dump_start and
   dump_walk. */
void dump_code (Dump *d, const void *code, const char *name);

/*
** Writes all objects and edges of L's heap, the samples and the end. To be called once, where
** luaN_walk may be called. Returns LUAN_WALKED if the snapshot is complete. Otherwise returns
** LUAN_STOPPED if the sink returned 0, LUAN_NOMEMORY if 'memory' returned NULL, or LUAN_BUSY as
** luaN_walk does.
*/
int dump_walk (Dump *d, lua_State *L);

#endif
