/* SPDX-License-Identifier: MIT */
/*
** Origins are the encoder's data of the states whose events it writes. Each state numbers its
** functions and classes from 1. In a file of many states, the encoder translates these numbers so
** that equal names share one number. For example, ten thousand states that run one script need
** only the names of that script.
**
** Used by the encoder's thread. Invariants:
**
**   OR1  'functions' and 'classes' translate a state's numbers. Element i - 1 of 'functions' is
**        the file's number of the state's function i, and element i - 1 of 'classes' that of its
**        class i; 0: not emitted;
**   OR2  in the file, each number belongs to one name and each name has one number. Exception:
**        names beyond FUNCTIONS_MOST and CLASSES_MAX share the last number and are counted;
**   OR3  the memory of a state is freed when the state ends. Only its entry in 'places' remains,
**        and is removed later.
*/
#ifndef asamp_origin_h
#define asamp_origin_h

#include "idmap.h"
#include "sample.h"

/*
** The current stack, encoded as in a record, innermost frame first. It is stored at the end of the
** block, so that new frames can be stored before the unchanged ones.
*/
typedef struct Frames {
  unsigned char *block;
  size_t size;          /* capacity of the block, in frames */
  size_t n;             /* number of frames of the stack, which are the last n in the block */
} Frames;

typedef struct Numbers {
  uint32_t *list;
  size_t n, size;
} Numbers;

/* The encoder's data of a Lua state. All zero except 'id': nothing is recorded. */
typedef struct Origin {
  uint32_t id;
  uint32_t thread;      /* OS thread that ran the Lua state last; 0: unknown */
  Frames stack;
  Numbers functions, classes;
  ProfileCollection before;  /* the Lua state's last collection so far */
  uint64_t undecided;   /* number of the Lua state's samples whose survival no collection has
			   decided so far */
} Origin;

typedef struct Origins {
  Origin **list;        /* the encoder's data of the Lua states that have not ended */
  size_t n, size;
  IdMap places;         /* maps ids of states (+ 1) to indexes in 'list' */
  Origin *last;         /* result of the last origins_get, as a cache; NULL: none */
  IdMap functions, classes;  /* map hashes of names to numbers of the file */
  uint32_t nfunctions, nclasses;
  uint64_t lumpedfunctions, lumpedclasses;
} Origins;

/* Returns the data of the state with that id, and makes them at the first call. Returns NULL if
   there is not enough memory. */
Origin *origins_get (Origins *o, uint32_t id);
/* Frees a state that has ended. */
void origins_drop (Origins *o, Origin *gone);
void origins_free (Origins *o);

#define ORIGIN_FUNCTIONS	"py:(other functions):0:-"
#define ORIGIN_CLASSES		"(other classes)"

/*
** Returns the file's number for the function *name, which has the number 'local' in the state.
** Sets *isnew to 1 if the caller must write *name to the file. Beyond the limit (OR2), *name
** becomes ORIGIN_FUNCTIONS. Returns 0 if there is not enough memory.
*/
uint32_t origins_function (Origins *o, Origin *of, uint64_t local, const char **name,
                           int *isnew);
/* Like origins_function, for a class. Beyond the limit, *name becomes ORIGIN_CLASSES. */
uint32_t origins_class (Origins *o, Origin *of, uint32_t local, const char **name,
                        int *isnew);

/* Like origins_function, but does not store the number in a state; the caller does. */
uint32_t origins_functionname (Origins *o, const char **name, int *isnew);
/* Like origins_class, but does not store the number in a state; the caller does. */
uint32_t origins_classname (Origins *o, const char **name, int *isnew);

/* Returns the number in the file for the number 'local' of a state's function or class; 0: it was
   not emitted. */
static inline uint32_t origin_number (const Numbers *n, uint64_t local) {
  return local >= 1 && local <= n->n ? n->list[local - 1] : 0;
}

#endif
