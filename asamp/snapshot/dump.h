/* SPDX-License-Identifier: MIT */
/*
** The encoder of heap snapshots: walks a heap (luaN_walk of seam.h) and passes the bytes of
** heapformat.h to a sink in pieces. Its memory is the struct Dump, and blocks from the callback
** 'memory', which the walk also uses. It calls only the sink, 'memory' and the seam, so that it
** can run in a forked child that must not call malloc.
*/
#ifndef asamp_dump_h
#define asamp_dump_h

#include "lua.h"

struct Tracker;

#include <stddef.h>
#include <stdint.h>

#define DUMP_PIECE	65536
#define DUMP_LONGEST	(HEAP_TEXT + 64)  /* the largest number of bytes of one record */

/* Receives n bytes of the snapshot. Returns 0 to stop the walk. */
typedef int (*DumpSink) (void *ud, const unsigned char *data, size_t n);

typedef struct Dump {
  DumpSink sink;
  void *ud;
  void *(*memory) (void *ud, void *block, size_t old, size_t size);
  const struct Tracker *tracker;	/* the tracker whose live samples are written; NULL: none */
  uint64_t time;		/* time of the snapshot in ns, CLOCK_MONOTONIC; the ages of
				   samples count up to it */
  uint64_t objects, edges, bytes;	/* numbers of objects and edges, and bytes of objects,
					   written so far */
  uint64_t last;		/* address of the previous object */
  uint64_t from;		/* address of the object whose edges are being written */
  int64_t index;		/* index of the previous array element */
  size_t n;
  unsigned char buffer[DUMP_PIECE];
} Dump;

/*
** Starts the encoding with the magic bytes. Then dump_meta, dump_number and dump_code may be
** called, and finally dump_walk. *d must be zero except sink, ud, memory (and tracker, time).
*/
void dump_start (Dump *d);
void dump_meta (Dump *d, const char *key, const char *value);
void dump_number (Dump *d, const char *key, uint64_t n);

/* Records the name of the C function at the address 'code'. */
void dump_code (Dump *d, const void *code, const char *name);

/*
** Writes all objects and edges of L's heap, the samples and the end. Returns the result of
** luaN_walk: LUAN_WALKED, LUAN_STOPPED, LUAN_NOMEMORY or LUAN_BUSY.
*/
int dump_walk (Dump *d, lua_State *L);

#endif
