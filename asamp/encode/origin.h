/* SPDX-License-Identifier: MIT */
/*
** Origins: the encoder's data of each state whose events it writes. A state numbers its
** functions and classes by itself, from 1; in a file of many states, equal names share one
** number, so that ten thousand states that run one script need the names of one script.
**
** Used by the encoder's thread. Invariants:
**
**   OR1  element i - 1 of 'functions' is the file's number of the state's function i, and element
**        i - 1 of 'classes' that of its class i; 0: not emitted;
**   OR2  no number of the file belongs to two names, and no name has two numbers, except names
**        beyond FUNCTIONS_MOST and CLASSES_MAX, which share the last number and are counted;
**   OR3  the memory of a state is freed when it ends; only its entry in 'places' remains, which is
**        removed later.
*/
#ifndef asamp_origin_h
#define asamp_origin_h

#include "idmap.h"
#include "sample.h"

/*
** The current stack, encoded as in a record: innermost frame first, the root at the end of the
** block, so that new frames are stored before unchanged ones.
*/
typedef struct Frames {
  unsigned char *block;
  size_t size;          /* capacity in frames */
  size_t n;             /* the last n frames are the stack */
} Frames;

typedef struct Numbers {
  uint32_t *list;
  size_t n, size;
} Numbers;

/* A state. All zero except 'id': nothing is recorded. */
typedef struct Origin {
  uint32_t id;
  uint32_t thread;      /* OS thread that ran it last; 0: unknown */
  Frames stack;
  Numbers functions, classes;
  ProfileCollection before;  /* its last collection */
  uint64_t undecided;   /* its undecided samples (events) */
} Origin;

typedef struct Origins {
  Origin **list;        /* states that have not ended */
  size_t n, size;
  IdMap places;         /* maps ids (+ 1) to indexes in the list */
  Origin *last;         /* result of the last origins_get; NULL: none */
  IdMap functions, classes;  /* map hashes of names to numbers of the file */
  uint32_t nfunctions, nclasses;
  uint64_t lumpedfunctions, lumpedclasses;
} Origins;

/* Returns the state with that id, a new one if needed; NULL if there is not enough memory. */
Origin *origins_get (Origins *o, uint32_t id);
/* Frees a state that has ended. */
void origins_drop (Origins *o, Origin *gone);
void origins_free (Origins *o);

#define ORIGIN_FUNCTIONS	"py:(other functions):0:-"
#define ORIGIN_CLASSES		"(other classes)"

/*
** Returns the file's number of the function *name that has the number 'local' in the state. Beyond
** the limit (OR2), *name becomes ORIGIN_FUNCTIONS. *isnew 1: the caller must write *name. Returns 0
** if there is not enough memory.
*/
uint32_t origins_function (Origins *o, Origin *of, uint64_t local, const char **name,
                           int *isnew);
/* Like origins_function, for a class and ORIGIN_CLASSES. */
uint32_t origins_class (Origins *o, Origin *of, uint32_t local, const char **name,
                        int *isnew);

/* Like origins_function, without storing the number: the caller does. */
uint32_t origins_functionname (Origins *o, const char **name, int *isnew);
/* Like origins_class, without storing the number: the caller does. */
uint32_t origins_classname (Origins *o, const char **name, int *isnew);

/* Returns the file's number (OR1); 0: not emitted. */
static inline uint32_t origin_number (const Numbers *n, uint64_t local) {
  return local >= 1 && local <= n->n ? n->list[local - 1] : 0;
}

#endif
