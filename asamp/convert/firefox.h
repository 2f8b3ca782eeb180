/* SPDX-License-Identifier: MIT */
/*
** Converter to the Firefox Profiler's processed profile format, version 64: the part of the
** file whose size depends on the profile. The text of the head (meta, categories, schemas)
** comes from asamp.show.firefox.
**
** It is a client of the reader: rows are written to temporary files (spills) during reading,
** and the file is written afterwards. Memory: the call tree, one leaf for each site and survival
** outcome, the undecided samples, and the strings of names. Rules:
**   FX1  the rows of a table are in the order of time; all columns of a table have the same
**        length; every index is valid; parents come before their children;
**   FX2  a sample is a row with a positive number of bytes at its time. If it died, a row with
**        the negative number, the same stack and the same address follows at the time of the
**        collection that found it dead. Addresses are small numbers; two living samples never
**        share one. A sample of 0 bytes has no row;
**   FX3  the leaf of a sample's stack is its kind, in the category of its survival outcome;
**   FX4  if the profile has the holders of the objects alive at the end, these are in a
**        separate thread: one sample for each site at the end's time, whose stack consists of
**        the holders (heldstack.h);
**   FX5  a process with several Lua states has a thread for each non-empty group of states
**        (tags.h); rows, marks and collections are in the thread of their state;
**   FX6  a stack with labels has them as its outermost frame.
*/
#ifndef asamp_firefox_h
#define asamp_firefox_h

#include "sitetable.h"
#include "readprofile.h"
#include "spill.h"
#include "tags.h"

/* Indices into meta.categories, in the order of the head. */
enum FirefoxCategory {
  FIREFOX_OTHER, FIREFOX_LUA, FIREFOX_NATIVE, FIREFOX_COLLECTOR,
  FIREFOX_DIED, FIREFOX_SURVIVED, FIREFOX_UNDECIDED, FIREFOX_HOLDER, FIREFOX_LABELS
};

/* A sample whose negative row has not been written yet. */
typedef struct FirefoxDeath {
  size_t leaf;
  uint32_t tag;
  uint64_t bytes;
  uint64_t address;
} FirefoxDeath;

/* Numbers of rows. */
typedef struct FirefoxRows {
  uint64_t rows, timerows, events;
} FirefoxRows;

/*
** Returns the text of a script's file and sets *n to its length in bytes; the text is valid
** until the next call. NULL: it is not available or is not to be included.
*/
typedef const char *(*FirefoxSource) (void *ud, const char *file, size_t *n);

typedef struct Firefox {
  ReaderClient client;  /* pass this to reader_read */
  Tags tags;               /* the Lua states, without labels */
  FirefoxRows byplace[TAGS_GROUPS];  /* by group before the reading has ended, when groups may
				        still be merged */
  FirefoxRows of[TAGS_GROUPS];       /* by final group; valid after firefox_group */
  int bylabels;            /* 1: the tags of 'leaves' and 'ticksites' are sets of labels */
  SiteTable leaves;        /* sites with the kind kind * 3 + fate */
  SiteTable ticksites;     /* stacks of time samples */
  SiteTable held;       /* objects alive at the end, by node; the kind is the path of holders */
  uint64_t last;        /* time of the last allocation row, us */
  uint64_t address;     /* the largest address used so far */
  uint64_t *unused;     /* free addresses below it */
  size_t nunused, unusedsize;
  FirefoxDeath *deaths; /* the deaths found by the collection at 'deathtime' */
  size_t ndeaths, deathsize;
  uint64_t deathtime;
  uint64_t rows, timerows, events, collections;
  /* allocation rows: us since the previous row, leaf, bytes, address, tag */
  Spill time, stack, weight, memory, whose;
  /* time samples: us since the previous row, index into 'ticksites', ns, tag */
  Spill tick, tickstack, tickweight, tickwhose;
  uint64_t lasttick;
  /* collections and marks (layout: firefox.c) */
  Spill event;
  FirefoxSource source;  /* may be set before firefoxfile_write; NULL: no texts of scripts */
  void *sourceud;
} Firefox;

/*
** Initializes f. 'directory' is the folder of the spills; 'by' is the criterion of separate
** threads (tags.h). Returns NULL, or the reason for a failure. firefox_free must be called in
** both cases.
*/
const char *firefox_start (Firefox *f, const char *directory, int by);
void firefox_free (Firefox *f);
/* Returns the errno of the first failed spill; 0: none has failed. */
int firefox_error (Firefox *f);

/*
** Computes the final groups and their numbers of rows, and writes the remaining negative rows.
** It is called after reader_read. Adds the numbers of omitted items to 'left' (LEFT_N counts).
*/
void firefox_group (Firefox *f, const ReadProfile *r, uint64_t *left);

/*
** Returns 1 if the group has a thread: it has rows, or it is the first one and there are no
** rows at all.
*/
int firefox_has (const Firefox *f, uint32_t group);

#endif
