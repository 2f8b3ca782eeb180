/* SPDX-License-Identifier: MIT */
/*
** Origins: what the encoder knows of each state whose events it writes. A state
** numbers its functions and classes by itself, from 1 on; in a file of many states
** those of one name are one, so that ten thousand states that run one script are
** one script's names.
**
** Owns nothing but memory; used by the encoder's thread. Invariants:
**   OR1  functions[i - 1] is the file's number of the state's function i, and
**        classes[i - 1] that of its class i; 0: it was not emitted;
**   OR2  a number of the file is never given to two names, nor a name two numbers,
**        but for what is beyond FUNCTIONS_MOST and CLASSES_MAX: that has the last
**        number, and is counted;
**   OR3  the memory of a state goes with it: what stays of it is a number.
*/
#ifndef asamp_origin_h
#define asamp_origin_h

#include "idmap.h"
#include "sample.h"

/*
** The stack last set, as it stands in a record: innermost first, the root at
** the end of the block, so that what is new goes before what stays.
*/
typedef struct Frames {
  unsigned char *block;
  size_t size;          /* frames that it has room for */
  size_t n;             /* the last n of them are the stack */
} Frames;

typedef struct Numbers {
  uint32_t *list;
  size_t n, size;
} Numbers;

/* A state. All zero but 'id': nothing is known of it. */
typedef struct Origin {
  uint32_t id;
  uint32_t thread;      /* the OS thread that ran it last; 0: none yet */
  Frames stack;
  Numbers functions, classes;
  ProfileCollection before;  /* its last collection */
  uint64_t undecided;   /* its samples (events) without a fate */
} Origin;

typedef struct Origins {
  Origin **list;        /* those that have not ended */
  size_t n, size;
  IdMap places;         /* id (+ 1) -> place in the list, while it is there */
  Origin *last;         /* that was asked for; NULL: none */
  IdMap functions, classes;  /* hash of a name -> number of the file */
  uint32_t nfunctions, nclasses;
  uint64_t lumpedfunctions, lumpedclasses;
} Origins;

/* The state of that id, a new one if it is not there. NULL: no memory. */
Origin *origins_get (Origins *o, uint32_t id);
/* It has ended. */
void origins_drop (Origins *o, Origin *gone);
void origins_free (Origins *o);

/*
** The file's number for what the state calls 'local', of that name, which may become
** that of all that has no room; *isnew: it is to be written. 0: no memory.
*/
#define ORIGIN_FUNCTIONS	"py:(other functions):0:-"
#define ORIGIN_CLASSES		"(other classes)"

uint32_t origins_function (Origins *o, Origin *of, uint64_t local, const char **name,
                           int *isnew);
uint32_t origins_class (Origins *o, Origin *of, uint32_t local, const char **name,
                        int *isnew);

/* The same for names alone, of whoever keeps numbers of his own. */
uint32_t origins_functionname (Origins *o, const char **name, int *isnew);
uint32_t origins_classname (Origins *o, const char **name, int *isnew);

/* OR1; 0: it was not emitted. */
static inline uint32_t origin_number (const Numbers *n, uint64_t local) {
  return local >= 1 && local <= n->n ? n->list[local - 1] : 0;
}

#endif
