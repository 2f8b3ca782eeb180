/* SPDX-License-Identifier: MIT */
/*
** The converter to the Firefox Profiler's processed profile format, version
** 60: what grows with the profile. The head (meta, categories, schemas) is
** text that asamp.show.firefox makes.
**
** A client of the reader: rows are spilled while it reads, and the file is
** written when it has read. Memory: the call tree, one leaf for each site and
** fate, samples that wait for their collection, strings of names.
** Rules:
**   FX1  rows of a table are in the order of time; columns are of one length;
**        every index is within its table; parents stand before children;
**   FX2  a sample is a row of +bytes at its time; if it died, there is a row of
**        -bytes with the same stack and address at the collection that has found
**        it dead; addresses are small numbers, in use by one sample at a time;
**        a sample of no bytes has no row;
**   FX3  the leaf of a sample's stack is its kind, in the category of its fate;
**   FX4  what is alive at the end is a second thread, where the profile tells who holds
**        it: a sample a site at the end's time, with its holders as stack (heldstack.h);
**   FX5  a process of several Lua states has a thread for each group of these (tags.h) of
**        which there is anything; rows, marks and collections are in that of their state;
**   FX6  what has labels has them as its outermost frame.
*/
#ifndef asamp_firefox_h
#define asamp_firefox_h

#include "sitetable.h"
#include "readprofile.h"
#include "spill.h"
#include "tags.h"

/* Indices into meta.categories, as the head lists them. */
enum FirefoxCategory {
  FIREFOX_OTHER, FIREFOX_LUA, FIREFOX_NATIVE, FIREFOX_COLLECTOR,
  FIREFOX_DIED, FIREFOX_SURVIVED, FIREFOX_UNDECIDED, FIREFOX_HOLDER, FIREFOX_LABELS
};

/* A sample whose row of -bytes is still to come. */
typedef struct FirefoxDeath {
  size_t leaf;
  uint32_t tag;
  uint64_t bytes;
  uint64_t address;
} FirefoxDeath;

/* How much there is. */
typedef struct FirefoxRows {
  uint64_t rows, timerows, events;
} FirefoxRows;

/* The text of a script's file, which holds until the next call; NULL: it is not to be
   had, or not to be given. */
typedef const char *(*FirefoxSource) (void *ud, const char *file, size_t *n);

typedef struct Firefox {
  ReaderClient client;  /* hand this to reader_read */
  Tags tags;               /* of states, without labels: */
  FirefoxRows byplace[TAGS_GROUPS];  /* of the tag, ... */
  FirefoxRows of[TAGS_GROUPS];       /* ... and by group, when it is read */
  int bylabels;            /* the tags of 'leaves' and 'ticksites' are labels */
  SiteTable leaves;        /* sites of kind * 3 + fate */
  SiteTable ticksites;     /* stacks of samples of time */
  SiteTable held;       /* what is alive at the end: node, and path as kind */
  uint64_t last;        /* time of the last row of allocations */
  uint64_t address;     /* the largest in use so far */
  uint64_t *unused;     /* addresses below it */
  size_t nunused, unusedsize;
  FirefoxDeath *deaths; /* at 'deathtime' */
  size_t ndeaths, deathsize;
  uint64_t deathtime;
  uint64_t rows, timerows, events, collections;
  /* allocations: us since the row before; leaf; bytes; address; tag */
  Spill time, stack, weight, memory, whose;
  /* time samples: us since the row before; index into 'ticksites'; ns; tag */
  Spill tick, tickstack, tickweight, tickwhose;
  uint64_t lasttick;
  /* collections and marks, see 'firefox.c' */
  Spill event;
  FirefoxSource source;  /* may be set before firefoxfile_write; NULL: no texts */
  void *sourceud;
} Firefox;

/* 'directory': for the spills; 'by': what is told apart (tags.h). A phrase why not, or
   NULL; free it all the same. */
const char *firefox_start (Firefox *f, const char *directory, int by);
void firefox_free (Firefox *f);
/* Why a spill lacks something: an errno, or 0. */
int firefox_error (Firefox *f);

/* After reader_read: from here on there are groups and what each has; their rows of -bytes
   are all there. Adds to 'left' (LEFT_N counts). */
void firefox_group (Firefox *f, const ReadProfile *r, uint64_t *left);

/* Has the group a thread? The first has one if none has anything. */
int firefox_has (const Firefox *f, uint32_t group);

#endif
