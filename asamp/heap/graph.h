/* SPDX-License-Identifier: MIT */
/*
** Reads a heap snapshot into a Graph: objects, references between them (edges), and allocation
** samples. A Graph does not change after it was read.
**
** From a Graph, the other files of this folder compute classes (classnames.h), dominators
** (dominators.h), merged trees (merge.h), effects of removed references (cut.h), descriptions
** (words.h), and a file for DevTools (devtools.h).
**
** Object 0 is the Lua state, which holds the roots. The parent of an object is the origin of the
** first edge to it in the file, which is on a shortest path from the state.
**
**   GR1  a graph is complete and consistent: every object is defined once, every edge refers to an
**        object, and the numbers of objects, edges and bytes are those in the record HEAP_END.
**        Any other file is an error;
**   GR2  the parents of every object lead to object 0.
**
** An object takes about 40 bytes, an edge 8, a sample 24. Files that need far more memory than
** snapshots of asamp are refused (graph.c).
*/
#ifndef asamp_graph_h
#define asamp_graph_h

#include "heapformat.h"

#include <stddef.h>
#include <stdint.h>

#define GRAPH_NONE	UINT32_MAX

/*
** The way in which one object refers to another: a kind of edge (HEAP_E...) and an argument. If the
** argument is unknown, or the kind has none, it is WAY_MOST. The argument by kind:
**
**   - INDEX, ROOT, USERVALUE, CONSTANT: the index of the element, root, user value or constant
**   - FIELD, ENTRY: object number of the key
**   - WEAKKEY (to the value of a field with a weak key): in an edge from the table, object number
**     of the key; in an edge from the key, object number of the table
**   - UPVALUE, LOCAL, STACK, CODE: index in Graph.slots
*/
typedef uint32_t Way;
/* A Way (the kind and the argument of a reference in one number) stores the kind in this number of
   low bits. */
#define WAY_BITS	5
#define WAY_MOST	((1u << (32 - WAY_BITS)) - 1)
#define way_kind(w)	((w) & ((1u << WAY_BITS) - 1))
#define way_argument(w)	((w) >> WAY_BITS)
#define way_of(kind,a)	((Way)(kind) | (Way)(a) << WAY_BITS)

/* A variable or stack slot. */
typedef struct Slot {
  /* Names of a slot; both may be GRAPH_NONE: unknown.
     name  object number of the variable's name
     in    the function that has the variable or slot: object number of its prototype; for
           HEAP_ECODE, index of a C function in Graph.codes */
  uint32_t name, in;
  uint32_t index;	/* of an upvalue: its number in the function; of a stack slot: its number in
                           the call, where slot 1 has the called function; 0: unknown */
} Slot;

/* An edge that the file lists apart from the other edges of its object. In Graph.to, the edges of
   an object are adjacent, so this edge is in the list Graph.late instead. */
typedef struct LateEdge {
  uint32_t from, to;
  Way way;
} LateEdge;

/* An allocation site: a function and a line. */
typedef struct Site {
  char *name, *source;		/* name and source of the function, in one block of memory */
  uint32_t defined, line;	/* 'defined': line of the function's definition; 'line': line that
                                   allocates */
} Site;

/* An allocation sample. */
typedef struct Sample {
  uint32_t object;
  uint32_t site;		/* index of the allocation site in Graph.sites; 0: unknown */
  uint64_t age;			/* time from the allocation to the snapshot, ms */
  uint64_t bytes;		/* number of allocated bytes that the sample represents */
} Sample;

/* A heap snapshot. An object is a number less than n. The arrays from 'address' to 'way' are
   indexed by objects. */
typedef struct Graph {
  uint32_t n;			/* number of objects, including object 0, the state */
  uint64_t *address;		/* address of each object in the process */
  uint32_t *words;		/* size of each object, in words of 8 bytes */
  unsigned char *kind;		/* kind of each object: HEAP_TABLE, ...; object 0: HEAP_KINDS */
  /* For each object, a property that depends on its kind; GRAPH_NONE: unknown, or another kind.
     - string: offset in 'text'
     - function: its prototype
     - C function: index in 'codes'
     - prototype: index in 'protos'
     - thread: 1 for the main thread */
  uint32_t *info;
  /* For each object: index of its first edge in 'to' and 'ways', and number of its edges in these
     arrays. */
  uint32_t *first, *count;
  uint32_t *parent;		/* parent of each object on a shortest path from the state;
                                   GRAPH_NONE for object 0 */
  Way *way;			/* for each object: the reference from its parent to it */
  uint32_t nedges;		/* number of elements of 'to' and 'ways' */
  uint32_t *to;			/* target of each edge */
  Way *ways;			/* kind and argument of each edge */
  /* Edges that the file lists apart from the other edges of their object, sorted by 'from'. They
     are not in 'to' and 'ways', in which the edges of an object are adjacent. */
  LateEdge *late;
  size_t nlate;
  /* Prototypes: line of the definition (0: main chunk), and string objects with name and source,
     which may be GRAPH_NONE. */
  struct Proto { uint32_t line, name, source; } *protos;
  size_t nprotos;
  Slot *slots;
  size_t nslots;
  char *text;			/* texts of strings, each as a length byte and the bytes */
  size_t ntext;			/* bytes of 'text' */
  char (*codes)[HEAP_TEXT + 1];	/* names of C functions */
  size_t ncodes;
  Site *sites;			/* allocation sites; element 0, the unknown site, is empty */
  uint32_t nsites;		/* number of sites, including the unused site 0 */
  Sample *samples;		/* all samples, sorted by object; the samples of an object oldest
                                   first */
  size_t nsamples;
  uint64_t dead;		/* number of samples whose objects are not in the snapshot */
  uint64_t textless;		/* number of strings whose text was not stored because of the limit
                                   TEXT_MOST */
  uint64_t bytes;		/* bytes of all objects and of the state itself */
  /* Numbers from the head of the file; 0: missing.
     state      bytes of the Lua state without its objects
     inuse      bytes in use
     held       bytes reserved for the heap
     allocated  bytes allocated in the life of the state
     time       s since 1970
     pid        process id
     period     mean number of bytes allocated between two samples */
  uint64_t state, inuse, held, allocated, time, pid, period;
  /* number of samples whose objects may be dead: the sampler follows a limited number of samples
     until their objects die, and did not follow these */
  uint64_t unfollowed;
  char command[HEAP_TEXT + 1];	/* command line of the process; "": unknown */
} Graph;

/* Reads a snapshot. On failure returns NULL with the reason in 'err'. Calls 'progress', unless
   NULL, with the finished share, 0 to 0.7. The share from 0.7 to 1 is for computations of the
   caller. */
Graph *graph_read (const char *path, void (*progress) (void *ud, double share), void *ud,
                   char *err, size_t size);
void graph_free (Graph *g);

/* Returns the size of object v in bytes; if v is 0, that of the state itself. */
uint64_t graph_size (const Graph *g, uint32_t v);

/* Returns the text of string object v, *n bytes without a NUL; "" if the text is unknown, or v is
   not a string object. The text of a long string is cut and ends with an ellipsis. */
const char *graph_text (const Graph *g, uint32_t v, size_t *n);

/* Returns 1 if v is a string object with the given text, which must not be empty. */
int graph_is (const Graph *g, uint32_t v, const char *text);

/* Returns the samples of object v, oldest first. Sets *n to their number. */
const Sample *graph_samples (const Graph *g, uint32_t v, size_t *n);

/* Sets *to and *way to the next edge from v. *i is the position in the edges of v: 0 before the
   first call, advanced by each call. Returns 0 after the last edge. */
int graph_edge (const Graph *g, uint32_t v, size_t *i, uint32_t *to, Way *way);

#endif
