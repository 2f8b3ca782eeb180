/* SPDX-License-Identifier: MIT */
/*
** A walk (luaN_walk of seam.h) as the bytes of heapformat.h, in pieces. Memory: the
** walk's own, which 'memory' gives, and a Dump. Calls nothing but the sink and the
** seam, so that it can run in a child that may not use malloc.
*/
#ifndef asamp_dump_h
#define asamp_dump_h

#include "lua.h"

struct Tracker;

#include <stddef.h>
#include <stdint.h>

#define DUMP_PIECE	65536
#define DUMP_LONGEST	(HEAP_TEXT + 64)  /* bytes of a record */

/* Takes what comes out. 0: no more is wanted. */
typedef int (*DumpSink) (void *ud, const unsigned char *data, size_t n);

typedef struct Dump {
  DumpSink sink;
  void *ud;
  void *(*memory) (void *ud, void *block, size_t old, size_t size);
  const struct Tracker *tracker;	/* whose samples are told, or NULL; ... */
  uint64_t time;		/* ... and when, CLOCK_MONOTONIC, ns */
  uint64_t objects, edges, bytes;	/* so far */
  uint64_t last;		/* address of the object before */
  uint64_t from;		/* holder of the edges that come */
  int64_t index;		/* of the last element */
  size_t n;
  unsigned char buffer[DUMP_PIECE];
} Dump;

/* Begins: magic, then metas may come, then the walk. Zero but for sink, ud, memory. */
void dump_begin (Dump *d);
void dump_meta (Dump *d, const char *key, const char *value);
void dump_number (Dump *d, const char *key, uint64_t n);

/* What a C function is called. */
void dump_code (Dump *d, const void *code, const char *name);

/* The walk, and the end. Returns what luaN_walk does. */
int dump_walk (Dump *d, lua_State *L);

#endif
