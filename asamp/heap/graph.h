/* SPDX-License-Identifier: MIT */
/*
** A heap snapshot in memory: the objects, their properties, and the references (edges) between
** them.
**
** Object 0 is the state itself, which holds the roots. The other objects are in the order in
** which the file first mentions them. The parent of an object and its way are those of the
** first edge to it, which is the end of a shortest path (the walk is breadth first, stacks
** last). Rules:
**   GR1  a graph that has been read is complete and consistent: every object is defined once,
**        every edge and name refers to an object, and the sums match those at the file's end.
**        Anything else is an error whose message names the problem and its place;
**   GR2  memory is proportional to the unpacked file; it is limited by MEMORY_MOST, or in
**        proportion to the packed file (graph.c). A file that needs more is refused. From every
**        object, the parents lead to object 0. An object takes about 40 bytes, an edge 8, and a
**        sample 24.
*/
#ifndef asamp_graph_h
#define asamp_graph_h

#include "heapformat.h"

#include <stddef.h>
#include <stdint.h>

#define GRAPH_NONE	UINT32_MAX

/*
** How one object refers to another: a kind of edge (HEAP_E... of heapformat.h) and an argument.
*/
typedef uint32_t Way;
#define WAY_BITS	5
#define WAY_MOST	((1u << (32 - WAY_BITS)) - 1)  /* the argument is missing or too large */
#define way_kind(w)	((w) & ((1u << WAY_BITS) - 1))
#define way_argument(w)	((w) >> WAY_BITS)
#define way_of(kind,a)	((Way)(kind) | (Way)(a) << WAY_BITS)

/*
** The meaning of an argument depends on the kind. INDEX, ROOT, USERVALUE, CONSTANT: the number
** (WAY_MOST: it is negative or too large). FIELD, ENTRY: the key. WEAKKEY: the key, too (the
** edge leads from the table to the value). UPVALUE, LOCAL, STACK, CODE: an index into 'slots'.
*/
typedef struct Slot {
  uint32_t name, in;	/* a string (the variable's name) and a prototype, or GRAPH_NONE; for
			   CODE, 'in' is the number of a C function's name */
  uint32_t index;	/* number of an upvalue; for STACK and CODE: 0 = not known, 1 = the
			   called function, 2 and more = the other slots */
} Slot;

typedef struct LateEdge {
  uint32_t from, to;
  Way way;
} LateEdge;

/* A place in the program where sampled objects were allocated. */
typedef struct Site {
  char *name, *source;		/* name and source of the function, in one block of memory */
  uint32_t defined, line;
} Site;

typedef struct Sample {
  uint32_t object;
  uint32_t site;		/* index of the Site; 0: not known */
  uint64_t age;			/* milliseconds from the allocation to the snapshot */
  uint64_t bytes;		/* bytes of allocation that the sample represents */
} Sample;

typedef struct Graph {
  uint32_t n;			/* number of objects, including the state */
  uint64_t *address;
  uint32_t *words;		/* size of each object in words of 8 bytes */
  unsigned char *kind;		/* HEAP_TABLE, ...; HEAP_KINDS for object 0 */
  /* depends on the kind. String: place in 'text'. Function: its prototype. C function:
     number of its name, or GRAPH_NONE. Prototype: index into 'protos'. Thread: 1 if it is
     the main thread */
  uint32_t *info;
  uint32_t *first, *count;	/* each object's edges: first index into 'to' and 'ways', and
				   their number */
  uint32_t *parent;
  Way *way;
  uint32_t nedges;
  uint32_t *to;
  Way *ways;
  LateEdge *late;		/* edges that are in the file separately from the others of
				   their object, sorted by 'from' */
  size_t nlate;
  struct Proto { uint32_t line, name, source; } *protos;
  size_t nprotos;
  Slot *slots;
  size_t nslots;
  char *text;			/* texts of strings: one byte for the length, then the bytes
				   of the text */
  size_t ntext;
  char (*codes)[HEAP_TEXT + 1];	/* names of C functions */
  size_t ncodes;
  Site *sites;			/* allocation sites; valid from index 1 */
  uint32_t nsites;		/* number of sites, including the unused site 0 */
  Sample *samples;		/* sorted by object, then by age, the oldest first */
  size_t nsamples;
  uint64_t dead;		/* number of samples of objects that were already garbage */
  uint64_t textless;		/* number of strings whose text exceeded the limit TEXT_MOST */
  uint64_t bytes;		/* bytes of all objects and of the state */
  /* numbers from the file's header; 0: not there */
  uint64_t state, inuse, held, allocated, time, pid, period;
  uint64_t unfollowed;		/* number of samples that survived, but are not in the file
				   (FOLLOWED_MOST) */
  char command[HEAP_TEXT + 1];
} Graph;

/*
** Reads a snapshot. 'progress' (may be NULL) is called with fractions from 0 to 1. Returns NULL
** on failure: 'err' (a buffer of 'size' bytes) then has the reason in one line.
*/
Graph *graph_read (const char *path, void (*progress) (void *ud, double share), void *ud,
                   char *err, size_t size);
void graph_free (Graph *g);

/* Returns the bytes of an object; for object 0 those of the state. */
uint64_t graph_size (const Graph *g, uint32_t v);

/*
** Returns the text of string v and sets *n to its length in bytes. A long text is cut and ends
** with an ellipsis. The result is empty if v is no string or its text was not stored.
*/
const char *graph_text (const Graph *g, uint32_t v, size_t *n);

/* Returns 1 if v is a string with this text. */
int graph_is (const Graph *g, uint32_t v, const char *text);

/*
** Returns the first sample of object v; *n is the number of its samples, which follow one
** another.
*/
const Sample *graph_samples (const Graph *g, uint32_t v, size_t *n);

/*
** Iterates over the edges of v: *i is 0 before the first call. Returns 0 if there are no more
** edges.
*/
int graph_edge (const Graph *g, uint32_t v, size_t *i, uint32_t *to, Way *way);

#endif
