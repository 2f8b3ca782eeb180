/* SPDX-License-Identifier: MIT */
/*
** A heap snapshot in memory: objects, what they are, and what holds what.
**
** Object 0 is the state itself, which holds the roots. The order of the others is that
** of their first mention; parent and way are the first edge to each, which ends a
** shortest path (the walk is breadth first, stacks last). Rules:
**   GR1  a graph that was read is whole: every object is defined once, every edge and
**        name leads to one, sums are those that the file's end tells. Anything else is
**        an error that says what is wrong, and where;
**   GR2  memory is in proportion to the file unpacked, and bounded by MEMORY_MOST or
**        in proportion to the file itself (graph.c): a file that takes more is
**        refused. Every object is reached from 0 by parents.
** About 40 bytes an object, 8 an edge and 24 a sample.
*/
#ifndef asamp_graph_h
#define asamp_graph_h

#include "heapformat.h"

#include <stddef.h>
#include <stdint.h>

#define GRAPH_NONE	UINT32_MAX

/* How one object holds another: a kind of heapformat.h, and an argument. */
typedef uint32_t Way;
#define WAY_BITS	5
#define WAY_MOST	((1u << (32 - WAY_BITS)) - 1)  /* no argument, or one too large */
#define way_kind(w)	((w) & ((1u << WAY_BITS) - 1))
#define way_argument(w)	((w) >> WAY_BITS)
#define way_of(kind,a)	((Way)(kind) | (Way)(a) << WAY_BITS)

/* Argument: of an INDEX, ROOT, USERVALUE, CONSTANT the number (WAY_MOST: no small one);
   of FIELD, ENTRY, WEAKKEY the key (a value under a weak key is the table's); of UPVALUE, LOCAL, STACK and CODE a Slot. */
typedef struct Slot {
  uint32_t name, in;	/* string and prototype, or GRAPH_NONE; of CODE 'in' is a C
			   function's name */
  uint32_t index;	/* of STACK and CODE: 0 not known, 1 the function, 2 and more */
} Slot;

typedef struct LateEdge {
  uint32_t from, to;
  Way way;
} LateEdge;

/* Where samples were allocated. */
typedef struct Site {
  char *name, *source;		/* of the function, one block; texts of the program */
  uint32_t defined, line;
} Site;

typedef struct Sample {
  uint32_t object;
  uint32_t site;		/* 0: not known */
  uint64_t age;			/* milliseconds */
  uint64_t bytes;		/* that it stands for */
} Sample;

typedef struct Graph {
  uint32_t n;			/* objects, with the state */
  uint64_t *address;
  uint32_t *words;		/* bytes of each, in words of 8 */
  unsigned char *kind;		/* HEAP_TABLE, ...; of object 0: HEAP_KINDS */
  uint32_t *info;		/* string: place in 'text'; function: prototype; C function:
				   its name, or GRAPH_NONE; prototype: place in 'protos'; thread: main? */
  uint32_t *first, *count;	/* edges of each */
  uint32_t *parent;
  Way *way;
  uint32_t nedges;
  uint32_t *to;
  Way *ways;
  LateEdge *late;		/* edges that came apart, by 'from' */
  size_t nlate;
  struct Proto { uint32_t line, name, source; } *protos;
  size_t nprotos;
  Slot *slots;
  size_t nslots;
  char *text;			/* length, a byte; so many bytes; and so on */
  size_t ntext;
  char (*codes)[HEAP_TEXT + 1];	/* names of C functions */
  size_t ncodes;
  Site *sites;			/* from 1 on */
  uint32_t nsites;		/* with the one that is none */
  Sample *samples;		/* by object, of each the oldest first */
  size_t nsamples;
  uint64_t dead;		/* samples of objects that were garbage already */
  uint64_t textless;		/* strings whose text found no room */
  uint64_t bytes;		/* of all objects, with the state's */
  /* metas; 0: not there */
  uint64_t state, inuse, held, allocated, time, pid, period;
  uint64_t unfollowed;		/* samples that survived, but are not here (FOLLOWED_MOST) */
  char command[HEAP_TEXT + 1];
} Graph;

/* NULL: 'err' says why in a line. 'progress' (NULL: none) hears shares from 0 to 1. */
Graph *graph_read (const char *path, void (*progress) (void *ud, double share), void *ud,
                   char *err, size_t size);
void graph_free (Graph *g);

/* Bytes of an object. */
uint64_t graph_size (const Graph *g, uint32_t v);

/* The text of a string, as much as there is, and an ellipsis where it goes on; '*n' its length. */
const char *graph_text (const Graph *g, uint32_t v, size_t *n);

/* Is it a string that reads so? */
int graph_is (const Graph *g, uint32_t v, const char *text);

/* The samples of v: '*n' of them, from the one that is returned on. */
const Sample *graph_samples (const Graph *g, uint32_t v, size_t *n);

/* The edges of v, one after the other: begin with *i = 0. 0: there are no more. */
int graph_edge (const Graph *g, uint32_t v, size_t *i, uint32_t *to, Way *way);

#endif
