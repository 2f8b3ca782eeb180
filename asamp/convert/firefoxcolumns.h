/* SPDX-License-Identifier: MIT */
/*
** Shared by the modules that write a Firefox profile: the state of writing, and the columns of
** tables. Each column is written in one pass over one spill or over the call tree. Other
** modules do not use this.
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
  uint32_t line;       /* 0: not known */
  uint32_t category;
} FirefoxFrame;

typedef struct FirefoxFile {
  Firefox *f;
  const ReadProfile *r;
  const Fold *fold;
  Output *o;
  int failed;          /* 1: there was not enough memory */
  double stretch;      /* factor for the times of samples if the profile has no real times, so
		          that the samples fill its duration; else 1 */
  StrList strings;
  FirefoxFrame *frames;  /* the frames of the call tree, then those of the leaves */
  size_t nframes, framesize;
  IdMap byframe;       /* from function and line, kind and survival outcome, step, or labels, to a
			  frame */
  uint32_t *frameof;   /* frame of each node, then of each leaf, then of each node of 'held' */
  uint32_t *labelframes;  /* frame of each set of labels of 'stacks' */
  HeldStack held;
  FirefoxStacks stacks;
  uint32_t group;      /* the group whose thread is being written */
} FirefoxFile;

/* Returns 1 if a tag belongs to the thread that is being written. */
static inline int firefoxcolumns_mine (const FirefoxFile *w, int64_t tag) {
  return tags_group(&w->f->tags, (uint32_t)tag) == w->group;
}

/*
** Returns the index of a string (n bytes) in the shared array of strings; it is added if it is
** new.
*/
uint32_t firefoxcolumns_string (FirefoxFile *w, const char *text, size_t n);

/* Writes a column of n rows; the statement 'cell' writes row i. */
#define FIREFOXCOLUMNS_ROWS(w,name,i,n,cell) \
  do { \
    firefoxcolumns_start(w, name); \
    for (i = 0; i < (n); i++) { \
      firefoxcolumns_comma(w, i); \
      cell; \
    } \
    firefoxcolumns_end(w); \
  } while (0)

/*
** Write the start "name":[ and the end ] of a column; firefoxcolumns_comma is called before
** each element.
*/
void firefoxcolumns_start (FirefoxFile *w, const char *name);
void firefoxcolumns_end (FirefoxFile *w);
static inline void firefoxcolumns_comma (FirefoxFile *w, uint64_t i) {
  if (i > 0)
    output_char(w->o, ',');
}
/* Writes the number n, or null if n is equal to 'none'. */
void firefoxcolumns_ornull (FirefoxFile *w, uint64_t n, uint64_t none);
/* Writes a column of n equal values. */
void firefoxcolumns_same (FirefoxFile *w, const char *name, const char *value,
                          uint64_t n);
/* Writes the end of a table of n rows. */
void firefoxcolumns_length (FirefoxFile *w, uint64_t n);

#endif
