/* SPDX-License-Identifier: MIT */
/*
** What the files that write a Firefox profile share: what is written, and the
** columns of its tables. Every column is one pass over one spill, or over the call
** tree. Not for others.
*/
#ifndef asamp_firefoxcolumns_h
#define asamp_firefoxcolumns_h

#include "firefox.h"
#include "heldstack.h"
#include "firefoxstacks.h"
#include "output.h"
#include "strlist.h"

typedef struct FirefoxFrame {
  uint32_t function;   /* index into the funcTable */
  uint32_t line;       /* 0: unknown */
  uint32_t category;
} FirefoxFrame;

typedef struct FirefoxFile {
  Firefox *f;
  const ReadProfile *r;
  const Fold *fold;
  Output *o;
  int failed;          /* memory is out */
  double stretch;      /* of times that the file does not tell, so that its
                          samples fill the time that it took; else 1 */
  StrList strings;
  FirefoxFrame *frames;  /* those of the tree, then those of the leaves */
  size_t nframes, framesize;
  IdMap byframe;       /* function and line, kind and fate, step, labels -> frame */
  uint32_t *frameof;   /* by node, then by leaf, then by node of 'held' */
  uint32_t *labelframes;  /* by set of 'stacks' */
  HeldStack held;
  FirefoxStacks stacks;
  uint32_t group;      /* whose thread is written */
} FirefoxFile;

/* Is what has the tag of the thread that is written? */
static inline int firefoxcolumns_mine (const FirefoxFile *w, int64_t tag) {
  return tags_group(&w->f->tags, (uint32_t)tag) == w->group;
}

/* The index of a string in the shared array. */
uint32_t firefoxcolumns_string (FirefoxFile *w, const char *text, size_t n);

/* A column of the rows i from 0 to n; 'cell' writes row i. */
#define FIREFOXCOLUMNS_ROWS(w,name,i,n,cell) \
  do { \
    firefoxcolumns_begin(w, name); \
    for (i = 0; i < (n); i++) { \
      firefoxcolumns_comma(w, i); \
      cell; \
    } \
    firefoxcolumns_end(w); \
  } while (0)

/* "name":[ ... ],  with firefoxcolumns_comma before each element. */
void firefoxcolumns_begin (FirefoxFile *w, const char *name);
void firefoxcolumns_end (FirefoxFile *w);
static inline void firefoxcolumns_comma (FirefoxFile *w, uint64_t i) {
  if (i > 0)
    output_char(w->o, ',');
}
/* A number, or null for 'none'. */
void firefoxcolumns_ornull (FirefoxFile *w, uint64_t n, uint64_t none);
/* A column of n equal values. */
void firefoxcolumns_same (FirefoxFile *w, const char *name, const char *value,
                          uint64_t n);
/* Ends a table of n rows. */
void firefoxcolumns_length (FirefoxFile *w, uint64_t n);

#endif
