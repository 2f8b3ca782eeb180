/* SPDX-License-Identifier: MIT */
/*
** The encoder of heap snapshots: walks a heap (luaN_walk of seam.h) and passes the bytes of
** heapformat.h to a sink in pieces. Its memory is the struct Dump, and blocks from the callback
** 'memory', which the walk also uses. dump_walk calls neither malloc nor a function of Lua except
** luaN_walk, so that it can run in a forked child.
*/
#ifndef asamp_dump_h
#define asamp_dump_h

#include "lua.h"

struct Tracker;

#include <stddef.h>
#include <stdint.h>

#define DUMP_PIECE	65536  /* bytes of the buffer: the largest piece that the sink receives */
#define DUMP_LONGEST	(HEAP_TEXT + 64)  /* most bytes of a record, or of one half of a
					     HEAP_SITE */

/* Receives the next n bytes of the snapshot. Returns 0 to stop the walk. */
typedef int (*DumpSink) (void *ud, const unsigned char *data, size_t n);

typedef struct Dump {
  DumpSink sink;
  void *ud;			/* argument of 'sink' and 'memory' */
  void *(*memory) (void *ud, void *block, size_t old, size_t size);	/* as lua_Alloc */
  const struct Tracker *tracker;	/* the tracker whose live samples are written; NULL: no
					   samples */
  uint64_t time;		/* time of the snapshot, at which the ages of samples are taken:
				   CLOCK_MONOTONIC, ns */
  uint64_t objects, edges, bytes;	/* number of objects, number of edges, and bytes of all
					   objects, written so far */
  uint64_t last;		/* address of the previous object, or of the owner of the previous
				   sample */
  uint64_t from;		/* address of the object whose edges are being written; 0: roots */
  int64_t index;		/* index of the previous array element of 'from' */
  size_t n;			/* bytes in 'buffer' */
  unsigned char buffer[DUMP_PIECE];
} Dump;

/*
** Starts the encoding with the magic bytes. *d must be zero except 'sink', 'ud' and 'memory';
** 'tracker' and 'time' may also be set, before dump_walk.
*/
void dump_start (Dump *d);

/*
** Write a fact about the snapshot: a key of at most 32 bytes, and a text of at most HEAP_TEXT bytes
** (a longer one is cut) or a number. To be called between dump_start and dump_walk, like dump_code.
*/
void dump_meta (Dump *d, const char *key, const char *value);
void dump_number (Dump *d, const char *key, uint64_t n);

/* Writes the name of the C function at the address 'code'. */
void dump_code (Dump *d, const void *code, const char *name);

/*
** Writes all objects and edges of L's heap, the samples and the end. To be called once, where
** luaN_walk may be called. Returns LUAN_WALKED; LUAN_STOPPED if the sink returned 0; LUAN_NOMEMORY
** if 'memory' returned NULL; LUAN_BUSY as luaN_walk. Unless it returns LUAN_WALKED, the snapshot is
** incomplete.
*/
int dump_walk (Dump *d, lua_State *L);

#endif
