/* SPDX-License-Identifier: MIT */
/*
** The encoder's data of each Lua state (the "origin" of events). Each state numbers its functions
** and classes from 1. The file has numbers of its own: functions with equal names share one number,
** and so do classes. So a name is written once even if thousands of states have it.
**
**   OR1  element i - 1 of the lists Origin.functions and Origin.classes is the number that the file
**        uses for the function or class with number i in the state. The element is 0 if no name of
**        that function or class was written to the file;
**   OR2  in the file, each number has one name and each name one number. Exception: names beyond
**        FUNCTIONS_MOST and CLASSES_MAX share the last number;
**   OR3  the data of a state (Origin) are freed at the state's end. Its entry in the map
**        Origins.places, which finds the data by the state's id, is removed later, together with
**        the entries of other ended states.
*/
#ifndef asamp_origin_h
#define asamp_origin_h

#include "idmap.h"
#include "sample.h"

/* The current stack of a state in the layout of a stack record: innermost frame first. The frames
   are at the end of 'block', so that a new inner frame can be added before them. */
typedef struct Frames {
  unsigned char *block;
  size_t size;          /* capacity, frames */
  size_t n;             /* frames of the stack */
} Frames;

/* Maps the numbers that a Lua state uses for its functions or classes to the numbers that the file
   uses for them (OR1). */
typedef struct Numbers {
  uint32_t *list;
  size_t n, size;
} Numbers;

/* The encoder's data of a Lua state. */
typedef struct Origin {
  uint32_t id;
  uint32_t thread;      /* the OS thread that last ran the state; 0: unknown */
  Frames stack;
  Numbers functions, classes;
  ProfileCollection before;  /* the state's last collection */
  uint64_t undecided;   /* number of the state's samples whose survival is not known yet */
} Origin;

/* The encoder's data of all Lua states, and the numbers that names have in the file. */
typedef struct Origins {
  Origin **list;        /* the states that have not ended */
  size_t n, size;
  IdMap places;         /* maps a state's id + 1 to its index in 'list' */
  Origin *last;         /* last result of origins_get, or NULL */
  IdMap functions, classes;  /* map the hash of a name to its number in the file */
  uint32_t nfunctions, nclasses;
  uint64_t lumpedfunctions, lumpedclasses;
} Origins;

/* Returns the data of a state; makes them if needed. Returns NULL if out of memory. */
Origin *origins_get (Origins *o, uint32_t id);
/* Frees the data of a state that has ended. */
void origins_drop (Origins *o, Origin *gone);
void origins_free (Origins *o);

#define ORIGIN_FUNCTIONS	"py:(other functions):0:-"
#define ORIGIN_CLASSES		"(other classes)"

/* Returns the number that the file uses for the Lua function with the name *name; 0 if out of
   memory. 'local' is the number of the function in the state 'of'; from now on origin_number maps
   'local' to the result. Sets *isnew to 1 if the name is not in the file yet, so that the caller
   must write it. All names beyond FUNCTIONS_MOST share one number; for these, sets *name to
   ORIGIN_FUNCTIONS. */
uint32_t origins_function (Origins *o, Origin *of, uint64_t local, const char **name,
                           int *isnew);
/* Like origins_function, for the class *name. Names beyond CLASSES_MAX share one number; for these,
   sets *name to ORIGIN_CLASSES. */
uint32_t origins_class (Origins *o, Origin *of, uint32_t local, const char **name,
                        int *isnew);

/* Like origins_function, but does not store the number for a Lua state. */
uint32_t origins_functionname (Origins *o, const char **name, int *isnew);
/* Like origins_class, but does not store the number for a Lua state. */
uint32_t origins_classname (Origins *o, const char **name, int *isnew);

/* Returns the number that the file uses for the function or class with the number 'local' in its
   Lua state. Returns 0 if no name of that function or class was written to the file. */
static inline uint32_t origin_number (const Numbers *n, uint64_t local) {
  return local >= 1 && local <= n->n ? n->list[local - 1] : 0;
}

#endif
