/* SPDX-License-Identifier: MIT */
/*
** Converter to the Firefox Profiler's processed profile format, version 64: the part of the
** file whose size depends on the profile. The text of the head (meta, categories, schemas)
** comes from asamp.show.firefox.
**
** It is a client of the reader: it stores rows in temporary files (spills) during reading, from
** which firefoxfile.h writes the file afterwards. Memory: the call tree, one leaf for each site and
** survival outcome, the reader's undecided samples, the free addresses, and the strings of names.
** Order of calls: firefox_start, reader_read, firefox_group, firefoxfile_write, firefox_free.
** Rules:
**   FX1  rows of samples and allocations are in the order of time; all columns of a table have the
**        same length; every index is valid; parents come before their children;
**   FX2  an allocation sample is a row with a positive number of bytes at its time, or at the time
**        of the previous row if that is later. If it died, a row with the negative number, the same
**        stack and the same address follows, in the same way at the time of the collection that
**        found it dead. Addresses are small numbers; two live samples never share one. A sample of
**        0 bytes has no row;
**   FX3  the leaf of an allocation sample's stack is its kind, in the category of its survival
**        outcome;
**   FX4  if the profile has the holders of the objects alive at the end, a further thread has
**        them: a sample for each row of heldstack.h, at the time of the profile's end;
**   FX5  a process with several Lua states has a thread for each non-empty group of states
**        (tags.h); rows, marks and collections are in the thread of their state's group;
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

/* A dead sample whose negative row has not been stored yet. */
typedef struct FirefoxDeath {
  size_t leaf;          /* index into 'leaves' */
  uint32_t tag;
  uint64_t bytes;
  uint64_t address;
} FirefoxDeath;

/* Numbers of allocation rows, of time samples, and of collections and marks. */
typedef struct FirefoxRows {
  uint64_t rows, timerows, events;
} FirefoxRows;

/*
** Returns the text of a script's file and sets *n to its length in bytes; the text is valid
** until the next call. NULL: the text is not available or is not to be included.
*/
typedef const char *(*FirefoxSource) (void *ud, const char *file, size_t *n);

typedef struct Firefox {
  ReaderClient client;  /* pass this to reader_read */
  Tags tags;               /* the Lua states of rows, without labels */
  FirefoxRows byplace[TAGS_GROUPS];  /* by the group of Tag: the places of tags.h */
  FirefoxRows of[TAGS_GROUPS];       /* by final group (tags_group); valid after firefox_group */
  int bylabels;            /* not 0: the tags of 'leaves' and 'ticksites' are label sets */
  SiteTable leaves;        /* by node of the stack; the kind is kind * 3 + survival outcome */
  SiteTable ticksites;     /* stacks of time samples */
  SiteTable held;       /* objects alive at the end, by node; the kind is the path of holders */
  uint64_t last;        /* time of the last allocation row, us */
  uint64_t address;     /* the largest address used so far */
  uint64_t *unused;     /* free addresses, at most 'address' */
  size_t nunused, unusedsize;
  FirefoxDeath *deaths; /* samples found dead at 'deathtime', whose rows are to be stored */
  size_t ndeaths, deathsize;
  uint64_t deathtime;   /* us */
  /* numbers of allocation rows, time samples, collections and marks, collections */
  uint64_t rows, timerows, events, collections;
  /* allocation rows: us since the previous row, leaf, bytes, address, tag */
  Spill time, stack, weight, memory, whose;
  /* time samples: us since the previous row, index into 'ticksites', ns, tag */
  Spill tick, tickstack, tickweight, tickwhose;
  uint64_t lasttick;    /* time of the last time sample, us */
  /* collections and marks (layout: firefox.c) */
  Spill event;
  FirefoxSource source;  /* may be set before firefoxfile_write; NULL: no texts of scripts */
  void *sourceud;
} Firefox;

/*
** Initializes f. 'directory' is the folder of the spills; 'by' is the sum of the properties that
** are distinguished (TAGS_BY... of tags.h; TAGS_BYTHREAD is ignored). Returns NULL, or the reason
** for a failure. firefox_free must be called in both cases.
*/
const char *firefox_start (Firefox *f, const char *directory, int by);
void firefox_free (Firefox *f);
/* Returns the errno of the first failed spill; 0: none has failed. */
int firefox_error (Firefox *f);

/*
** Stores the remaining negative rows, and computes the final groups and their numbers of rows.
** Called once, after reader_read. Sets the counts of 'left' (LEFT_N counts) that this file and
** tags.h know: LEFT_SITES, LEFT_HELD, LEFT_TAGS, LEFT_TOGETHER, LEFT_SCRIPTS.
*/
void firefox_group (Firefox *f, const ReadProfile *r, uint64_t *left);

/*
** Returns 1 if the group has a thread: it has rows, or it is the first one and no group has rows.
** Called after firefox_group.
*/
int firefox_has (const Firefox *f, uint32_t group);

#endif
