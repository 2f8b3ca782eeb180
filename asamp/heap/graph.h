/* SPDX-License-Identifier: MIT */
/*
** The folder heap reads snapshots of a heap and computes the results of `asamp heap`. This file
** reads a snapshot into a Graph, which then does not change. The other headers compute from the
** Graph: classes of objects (classnames.h), dominators (dominators.h), trees of merged objects
** (merge.h), the bytes that a removed reference frees (cut.h), descriptions of references
** (words.h), and a file for DevTools (devtools.h). Independent of Lua.
**
** A Graph has the objects, their properties, the references (edges) between them, and the
** allocation samples. Object 0 is the state itself, which holds the roots. The other objects are in
** the order in which the file first mentions them. The parent of an object is the object from which
** the first edge to it in the file comes. This edge is the end of a shortest path from the state,
** because the walk that wrote the file is breadth first. The walk follows stacks after all other
** references, and objects pending finalization last, so paths through these are only used if there
** are no others. Rules:
**
**   GR1  a graph that has been read is complete and consistent: every object is defined once,
**        every edge and name refers to an object, and the sums match those at the file's end.
**        Any other file is an error, whose message names the problem;
**   GR2  the parents of every object lead to object 0. Memory is proportional to the unpacked file:
**        an object takes about 40 bytes, an edge 8, and a sample 24. A file is refused if it needs
**        more than MEMORY_MOST bytes and more memory than any snapshot of its size (graph.c).
*/
#ifndef asamp_graph_h
#define asamp_graph_h

#include "heapformat.h"

#include <stddef.h>
#include <stdint.h>

#define GRAPH_NONE	UINT32_MAX

/*
** How one object refers to another: a kind of edge (HEAP_E... of heapformat.h) and an argument.
** The meaning of the argument depends on the kind. WAY_MOST means that there is no argument.
**
**   INDEX, ROOT, USERVALUE, CONSTANT  a number. None if it is negative or too large
**   FIELD                             the object number of the key, a string
**   ENTRY                             the key's object number. None if the key is not an object
**   WEAKKEY (an entry of a table with weak keys)
**       in an edge from the table to the value: the object number of the key
**       in an edge from the key to the value: the object number of the table
**   UPVALUE, LOCAL, STACK, CODE       an index into Graph.slots. None if there are too many slots
**   other kinds                       none
*/
typedef uint32_t Way;
#define WAY_BITS	5  /* number of bits of a Way that store the kind of the reference */
#define WAY_MOST	((1u << (32 - WAY_BITS)) - 1)
#define way_kind(w)	((w) & ((1u << WAY_BITS) - 1))
#define way_argument(w)	((w) >> WAY_BITS)
#define way_of(kind,a)	((Way)(kind) | (Way)(a) << WAY_BITS)

/* A variable or stack slot that refers to an object. */
typedef struct Slot {
  /* 'name': for UPVALUE and LOCAL the string object that is the variable's name, else GRAPH_NONE.
     'in': the function that has the variable or slot, as the object number of its prototype; for
     CODE, as the index of the C function's name in 'codes'. GRAPH_NONE: unknown. */
  uint32_t name, in;
  uint32_t index;	/* for UPVALUE, the upvalue's number. For STACK and CODE, the stack slot of
			   the call: 1 is the called function, 2 and more are the other slots, 0
			   means unknown */
} Slot;

/* An edge that the file does not store next to the other edges of its object. */
typedef struct LateEdge {
  uint32_t from, to;
  Way way;
} LateEdge;

/* An allocation site: a function, and the line in it that allocates. */
typedef struct Site {
  char *name, *source;		/* name and source of the function, in one block of memory */
  uint32_t defined, line;	/* lines where the function is defined, and where it allocates */
} Site;

/* An allocation sample. */
typedef struct Sample {
  uint32_t object;
  uint32_t site;		/* index into 'sites'; 0: not known */
  uint64_t age;			/* milliseconds from the allocation to the snapshot */
  uint64_t bytes;		/* bytes of allocation that the sample represents */
} Sample;

/* A snapshot of a heap. An object is a number below n; the arrays with a value for each object are
   indexed by it. */
typedef struct Graph {
  uint32_t n;			/* number of objects, including the state */
  uint64_t *address;		/* address of each object in the process */
  uint32_t *words;		/* size of each object in words of 8 bytes */
  unsigned char *kind;		/* kind of each object: HEAP_TABLE, ...; HEAP_KINDS for object 0 */
  /* A property of each object that depends on the kind. String: offset in 'text'. Function: its
     prototype. C function: index into 'codes'. These three may be GRAPH_NONE. Prototype: index into
     'protos'. Thread: 1 if it is the main thread. Other kinds: GRAPH_NONE. */
  uint32_t *info;
  /* Edges (references) of each object. 'first': index of its first edge in 'to' and 'ways'.
     'count': number of its edges there; its edges in 'late' are not counted. */
  uint32_t *first, *count;
  uint32_t *parent;		/* holder of each object on a shortest path from the state;
				   GRAPH_NONE for object 0 */
  Way *way;			/* the reference by which the parent holds each object */
  uint32_t nedges;		/* number of references in 'to' and 'ways' */
  uint32_t *to;			/* object to which each reference leads */
  Way *ways;			/* how the object that has each reference refers to its target in
			   'to' */
  LateEdge *late;		/* edges not stored next to the other edges of their object; sorted
				   by 'from' */
  size_t nlate;
  /* The prototypes. 'line': line of the definition, 0: main chunk. 'name', 'source': string
     objects, or GRAPH_NONE. */
  struct Proto { uint32_t line, name, source; } *protos;
  size_t nprotos;
  Slot *slots;
  size_t nslots;
  char *text;			/* texts of strings, one after the other: a byte with the length,
				   then the bytes, without a NUL */
  size_t ntext;			/* bytes of 'text' */
  char (*codes)[HEAP_TEXT + 1];	/* names of C functions */
  size_t ncodes;
  Site *sites;			/* allocation sites; valid from index 1 */
  uint32_t nsites;		/* number of sites, including the unused site 0 */
  Sample *samples;		/* allocation samples of objects in the heap, sorted by object, then
			   by age, the oldest first */
  size_t nsamples;
  uint64_t dead;		/* number of samples in the file whose objects were garbage and are
			   not in the heap */
  uint64_t textless;		/* number of strings whose texts are dropped, because all texts
				   together would exceed TEXT_MOST bytes */
  uint64_t bytes;		/* bytes of all objects and of the state */
  /* Numbers from the meta records of the file; 0: the file has no such record. 'state': bytes of
     the state itself. 'inuse': bytes in use. 'held': bytes reserved by the heap. 'allocated': bytes
     allocated before the snapshot. 'time': of the snapshot, in s since the epoch. 'pid': process
     id. 'period': sampling period in bytes. */
  uint64_t state, inuse, held, allocated, time, pid, period;
  uint64_t unfollowed;		/* number of live samples that are not in the file, because the
				   sampler follows at most FOLLOWED_MOST survivors until their
				   death */
  char command[HEAP_TEXT + 1];	/* command line of the process, or "" */
} Graph;

/*
** Reads a snapshot. Returns NULL on failure, with the reason in one line in 'err' (a buffer of
** 'size' bytes). Calls 'progress' (may be NULL) now and then with the part of the work that is
** done: from 0 to 0.7, because the caller's own computations are the rest. 'progress' must not
** leave by longjmp. graph_free accepts NULL.
*/
Graph *graph_read (const char *path, void (*progress) (void *ud, double share), void *ud,
                   char *err, size_t size);
void graph_free (Graph *g);

/* Returns the bytes of an object; for object 0 those of the state. */
uint64_t graph_size (const Graph *g, uint32_t v);

/* Returns the text of string v, without a NUL at its end, and sets *n to its length in bytes. A
   text of more than HEAP_TEXT bytes is cut and ends with an ellipsis. The result is "" if v is
   GRAPH_NONE or no string, or its text was not stored. Valid until graph_free. */
const char *graph_text (const Graph *g, uint32_t v, size_t *n);

/* Returns 1 if v is a string with this text, which is not empty. */
int graph_is (const Graph *g, uint32_t v, const char *text);

/*
** Sets *n to the number of samples of object v. Returns the first of them, which is the oldest; the
** others follow it. If *n is 0, the result must not be used.
*/
const Sample *graph_samples (const Graph *g, uint32_t v, size_t *n);

/*
** Iterates over the edges from v: sets *to and *way to the target and way of the next edge, and
** advances *i, which the caller sets to 0 before the first call. Returns 0 if there are no more
** edges.
*/
int graph_edge (const Graph *g, uint32_t v, size_t *i, uint32_t *to, Way *way);

#endif
