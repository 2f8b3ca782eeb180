/* SPDX-License-Identifier: MIT */
/* The data of the modules that write a Firefox profile, and functions that write parts of its
   tables. A column is written in one pass over a temporary file (spill.h) or an array. Used only by
   firefoxfile.c, firefoxrows.c and firefoxmarks.c. */
#ifndef asamp_firefoxcolumns_h
#define asamp_firefoxcolumns_h

#include "firefox.h"
#include "heldstack.h"
#include "firefoxstacks.h"
#include "output.h"
#include "strlist.h"

/* A row of "frameTable". */
typedef struct FirefoxFrame {
  uint32_t function;   /* function of the frame, index in funcTable */
  uint32_t line;       /* line of the source that ran; 0: unknown */
  uint32_t category;   /* category of the frame, enum FirefoxCategory */
} FirefoxFrame;

typedef struct FirefoxFile {
  Firefox *f;
  const ReadProfile *r;
  const Fold *fold;
  Output *o;
  int failed;          /* 1: not enough memory */
  /* The times of all rows are multiplied by this factor: 1 or, in a profile without times, the
     factor that makes the samples fill the profile's duration. */
  double stretch;
  StrList strings;     /* all strings of the file; tables refer to them by index */
  FirefoxFrame *frames;  /* all distinct frames */
  size_t nframes, framesize;
  IdMap byframe;       /* maps the content of a frame to its index in 'frames'. The content is a
                          function and line, a kind and outcome, a reference, or a label set */
  /* Indexes in 'frames': first an element for each call tree node, then one for each site of
     Firefox.leaves, then one for each node of held.nodes except node 0. */
  uint32_t *frameof;
  uint32_t *labelframes;  /* labelframes[i]: index in 'frames' of the frame of the label set
                             stacks.sets[i] */
  HeldStack held;
  FirefoxStacks stacks;
  /* The group of Lua states (tags.h) that is being written. Each group is one "thread" of the
     Firefox format, a track of the viewer. */
  uint32_t group;
} FirefoxFile;

/* Returns 1 if rows with the tag 'tag' belong to w->group, the group of Lua states that is being
   written. A tag is a number that represents a Lua state or all states of one script (tags.h). */
static inline int firefoxcolumns_mine (const FirefoxFile *w, int64_t tag) {
  return tags_group(&w->f->tags, (uint32_t)tag) == w->group;
}

/* Returns the index in 'strings' of a string of n bytes; adds the string if needed. */
uint32_t firefoxcolumns_string (FirefoxFile *w, const char *text, size_t n);

/* Writes a column of n rows. 'cell' is a statement that writes the value of row i. */
#define FIREFOXCOLUMNS_ROWS(w,name,i,n,cell) \
  do { \
    firefoxcolumns_start(w, name); \
    for (i = 0; i < (n); i++) { \
      firefoxcolumns_comma(w, i); \
      cell; \
    } \
    firefoxcolumns_end(w); \
  } while (0)

/* Writes the start of a column: "name":[ */
void firefoxcolumns_start (FirefoxFile *w, const char *name);
/* Writes the end of a column. */
void firefoxcolumns_end (FirefoxFile *w);
/* Writes the comma before the value of row i. Call it for each row. */
static inline void firefoxcolumns_comma (FirefoxFile *w, uint64_t i) {
  if (i > 0)
    output_char(w->o, ',');
}
/* Writes the number n; writes null if n equals 'none'. */
void firefoxcolumns_ornull (FirefoxFile *w, uint64_t n, uint64_t none);
/* Writes a column of n rows that all have the JSON text 'value'. */
void firefoxcolumns_same (FirefoxFile *w, const char *name, const char *value, uint64_t n);
/* Writes the end of a table of n rows: its member "length". */
void firefoxcolumns_length (FirefoxFile *w, uint64_t n);

#endif
