/* SPDX-License-Identifier: MIT */
/*
** The common data of the modules that write a Firefox profile, and functions that write the columns
** of its tables. Each column is written in one pass over a temporary file of rows (spill.h) or a
** table in memory. Only firefoxfile.c, firefoxrows.c and firefoxmarks.c use this header.
*/
#ifndef asamp_firefoxcolumns_h
#define asamp_firefoxcolumns_h

#include "firefox.h"
#include "heldstack.h"
#include "firefoxstacks.h"
#include "output.h"
#include "strlist.h"

/* A row of the table of frames ("frameTable") of a Firefox profile. */
typedef struct FirefoxFrame {
  uint32_t function;   /* index into the funcTable */
  uint32_t line;       /* 0: not known */
  uint32_t category;   /* enum FirefoxCategory */
} FirefoxFrame;

typedef struct FirefoxFile {
  Firefox *f;
  const ReadProfile *r;
  const Fold *fold;
  Output *o;
  int failed;          /* 1: there was not enough memory */
  /* Factor by which the times of samples are multiplied: 1 if the profile has real times, else the
     factor with which the samples fill the profile's duration. */
  double stretch;
  StrList strings;     /* the file's array of strings, to which all its tables refer by index */
  FirefoxFrame *frames;  /* all distinct frames */
  size_t nframes, framesize;
  IdMap byframe;       /* maps the content of a frame to its index in 'frames'. The content is a
                          function and line; a kind and survival outcome; a reference of a path; or
                          labels */
  uint32_t *frameof;   /* indexes in 'frames': of each node of the call tree, then of each entry of
                          'leaves', then of each node of 'held' from node 1 on */
  uint32_t *labelframes;  /* index in 'frames' of the frame that shows each label set of 'stacks' */
  HeldStack held;
  FirefoxStacks stacks;
  uint32_t group;      /* the group of Lua states (tags.h) whose thread is being written */
} FirefoxFile;

/* Returns 1 if rows with this tag (tags.h) belong to the thread that is being written. */
static inline int firefoxcolumns_mine (const FirefoxFile *w, int64_t tag) {
  return tags_group(&w->f->tags, (uint32_t)tag) == w->group;
}

/* Returns the index of a string (n bytes) in w->strings; adds the string if it is new. */
uint32_t firefoxcolumns_string (FirefoxFile *w, const char *text, size_t n);

/* Writes a column of n rows. Runs the statement 'cell', which writes the value of row i, for each i
   below n. */
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
** firefoxcolumns_start writes the start of a column: "name":[. firefoxcolumns_end writes the
** bracket after the last value. firefoxcolumns_comma must be called before the value of each row;
** 'i' is the index of the row in the column.
*/
void firefoxcolumns_start (FirefoxFile *w, const char *name);
void firefoxcolumns_end (FirefoxFile *w);
static inline void firefoxcolumns_comma (FirefoxFile *w, uint64_t i) {
  if (i > 0)
    output_char(w->o, ',');
}
/* Writes the number n, or null if n is equal to 'none'. */
void firefoxcolumns_ornull (FirefoxFile *w, uint64_t n, uint64_t none);
/* Writes a column of n rows with the JSON text 'value'. */
void firefoxcolumns_same (FirefoxFile *w, const char *name, const char *value,
                          uint64_t n);
/* Writes the end of a table of n rows, with its closing brace. */
void firefoxcolumns_length (FirefoxFile *w, uint64_t n);

#endif
