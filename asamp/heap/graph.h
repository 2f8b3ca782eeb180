/* SPDX-License-Identifier: MIT */
/*
** Reads a heap snapshot into a Graph: objects, references between them (edges), and allocation
** samples. It does not change later. The other files of this folder compute from it: classes
** (classnames.h), dominators (dominators.h), merged trees (merge.h), effects of removed references
** (cut.h), descriptions (words.h), a file for DevTools (devtools.h). Object 0 is the state, which
** holds the roots. An object's parent is the origin of the file's first edge to it, on a shortest
** path from the state.
**
**   GR1  a graph is complete and consistent: every object is defined once, every edge refers to an
**        object, and the sums match. Any other file is an error;
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
** How one object refers to another: a kind of edge (HEAP_E...) and an argument, WAY_MOST for none.
** The argument by kind:
**
**   - INDEX, ROOT, USERVALUE, CONSTANT: the index
**   - FIELD, ENTRY: object number of the key
**   - WEAKKEY (to the value of a field with a weak key): in an edge from the table, object number
**     of the key; in an edge from the key, object number of the table
**   - UPVALUE, LOCAL, STACK, CODE: index in Graph.slots
*/
typedef uint32_t Way;
#define WAY_BITS	5  /* number of low bits of a Way that store its kind */
#define WAY_MOST	((1u << (32 - WAY_BITS)) - 1)
#define way_kind(w)	((w) & ((1u << WAY_BITS) - 1))
#define way_argument(w)	((w) >> WAY_BITS)
#define way_of(kind,a)	((Way)(kind) | (Way)(a) << WAY_BITS)

/* A variable or stack slot. */
typedef struct Slot {
  /* 'name': object number of the variable's name. 'in': the function that has the variable or slot:
     object number of its prototype, or for HEAP_ECODE the index in Graph.codes. GRAPH_NONE:
     unknown. */
  uint32_t name, in;
  uint32_t index;	/* number of the upvalue, or of the stack slot in its call: 1 is
                           the called function; 0: unknown */
} Slot;

/* An edge that is not stored in Graph.to with the other edges from its object. */
typedef struct LateEdge {
  uint32_t from, to;
  Way way;
} LateEdge;

/* An allocation site: a function and a line. */
typedef struct Site {
  char *name, *source;		/* name and source of the function; allocated as one block */
  uint32_t defined, line;	/* lines of the function's definition, and of the allocation */
} Site;

/* An allocation sample. */
typedef struct Sample {
  uint32_t object;
  uint32_t site;		/* allocation site, index in Graph.sites; 0: unknown */
  uint64_t age;			/* time from the allocation to the snapshot, ms */
  uint64_t bytes;		/* allocated bytes that the sample represents */
} Sample;

/* A heap snapshot. An object is a number below n, by which arrays are indexed. */
typedef struct Graph {
  uint32_t n;			/* number of objects, including object 0, the state */
  uint64_t *address;		/* address in the process */
  uint32_t *words;		/* size in words of 8 bytes */
  unsigned char *kind;		/* kind of each object: HEAP_TABLE, ...; object 0: HEAP_KINDS */
  /* A property by kind. String: offset in 'text'; function: prototype; C function: index in 'codes'
     (each may be GRAPH_NONE); prototype: index in 'protos'; thread: 1 for the main thread; else
     GRAPH_NONE. */
  uint32_t *info;
  /* For each object: index of its first edge in 'to' and 'ways', and number of its edges there. */
  uint32_t *first, *count;
  uint32_t *parent;		/* parent on a shortest path; GRAPH_NONE for object 0 */
  Way *way;			/* the reference from the parent */
  uint32_t nedges;		/* number of elements of 'to' and 'ways' */
  uint32_t *to;			/* target of each edge */
  Way *ways;			/* kind and argument of each edge */
  LateEdge *late;		/* edges that are not in 'to' and 'ways', sorted by 'from' */
  size_t nlate;
  /* Prototypes: line of the definition (0: main chunk), name and source (string objects or
     GRAPH_NONE). */
  struct Proto { uint32_t line, name, source; } *protos;
  size_t nprotos;
  Slot *slots;
  size_t nslots;
  char *text;			/* texts of strings: a length byte, then the bytes */
  size_t ntext;			/* bytes of 'text' */
  char (*codes)[HEAP_TEXT + 1];	/* names of C functions */
  size_t ncodes;
  Site *sites;			/* valid from index 1 */
  uint32_t nsites;		/* number of sites, including the unused site 0 */
  Sample *samples;		/* sorted by object, then oldest first */
  size_t nsamples;
  uint64_t dead;		/* samples of objects not in the snapshot */
  uint64_t textless;		/* number of texts not stored because of the limit TEXT_MOST */
  uint64_t bytes;		/* bytes of all objects and the state */
  /* Numbers from the file's metadata; 0: missing. 'state': bytes of the Lua state without its
     objects. 'inuse', 'held', 'allocated': bytes of the heap used, reserved, allocated so far.
     'time': s since 1970. 'pid': process id. 'period': sampling period, bytes. */
  uint64_t state, inuse, held, allocated, time, pid, period;
  uint64_t unfollowed;		/* samples whose objects may be dead, because they were too
                                   many to be followed until their deaths */
  char command[HEAP_TEXT + 1];	/* command line, or "" */
} Graph;

/* Reads a snapshot. Returns NULL with the reason in 'err' on failure. Calls 'progress', if not
   NULL, with the finished share, 0 to 0.7. */
Graph *graph_read (const char *path, void (*progress) (void *ud, double share), void *ud,
                   char *err, size_t size);
void graph_free (Graph *g);

/* Returns the bytes of an object; 0: of the state. */
uint64_t graph_size (const Graph *g, uint32_t v);

/* Returns the text of string v (*n bytes, no NUL), "" if unknown. A long text is cut and ends
   with an ellipsis. */
const char *graph_text (const Graph *g, uint32_t v, size_t *n);

/* Returns 1 if v is a string with this nonempty text. */
int graph_is (const Graph *g, uint32_t v, const char *text);

/* Returns the samples of object v, oldest first, and sets *n to their number. */
const Sample *graph_samples (const Graph *g, uint32_t v, size_t *n);

/* Sets *to and *way to the next edge from v. *i is the position: 0 before the first call, advanced
   by each call. Returns 0 if there are no more edges. */
int graph_edge (const Graph *g, uint32_t v, size_t *i, uint32_t *to, Way *way);

#endif
