/* SPDX-License-Identifier: MIT */
/*
** Converts a profile to the Firefox Profiler's processed format, version 64. While reader_read
** reads the profile, callbacks store rows of the tables in temporary files; firefoxfile_write makes
** the result from these files. The Lua module asamp.show.firefox makes the JSON of the head.
**
** Order of calls: firefox_start, reader_read, firefox_group, firefoxfile_write, firefox_free.
**
** In this format, a "thread" is a track of the viewer with tables of its own, not an OS thread.
**
**   FX1  rows are in the order of time; all columns of a table have the same length; parents come
**        before children;
**   FX2  an allocation sample has a row with its bytes; a sample of 0 bytes has none. If the block
**        has died, a second row has the same stack and address, the time of death, and the bytes as
**        a negative number. The address pairs both rows. It is a made-up small number that no other
**        live sample has;
**   FX3  the innermost frame of an allocation's stack, its leaf, is the sample's kind. The frame's
**        category is the sample's outcome: died, survived or undecided;
**   FX4  an additional thread shows the paths of references to the objects alive at the end
**        (heldstack.h);
**   FX5  each group of Lua states (tags.h) that has rows is a thread;
**   FX6  a stack with labels has the labels as its outermost frame.
*/
#ifndef asamp_firefox_h
#define asamp_firefox_h

#include "sitetable.h"
#include "readprofile.h"
#include "spill.h"
#include "tags.h"

/* Categories of frames and markers, as indexes in the file's array meta.categories. */
enum FirefoxCategory {
  FIREFOX_OTHER, FIREFOX_LUA, FIREFOX_NATIVE, FIREFOX_COLLECTOR,
  FIREFOX_DIED, FIREFOX_SURVIVED, FIREFOX_UNDECIDED, FIREFOX_HOLDER, FIREFOX_LABELS
};

/* A sample whose block has died, but whose death is not stored yet. A death is stored as a second
   row with the sample's bytes as a negative number. */
typedef struct FirefoxDeath {
  size_t leaf;          /* the sample's stack, index in Firefox.leaves */
  uint32_t tag;         /* represents the Lua state, or all states of its script (tags.h) */
  uint64_t bytes;
  uint64_t address;
} FirefoxDeath;

/* Numbers of rows of a Lua state, of a script's states or of a group of states.
   rows      rows of allocations and their deaths
   timerows  rows of time samples
   events    collections and marks of the program */
typedef struct FirefoxRows {
  uint64_t rows, timerows, events;
} FirefoxRows;

/* Returns the text of a script, valid until the next call, and sets *n to its length in bytes.
   Returns NULL if the text is not available. */
typedef const char *(*FirefoxSource) (void *ud, const char *file, size_t *n);

typedef struct Firefox {
  ReaderClient client;  /* pass this to reader_read */
  Tags tags;               /* distinguishes Lua states */
  /* For each Lua state or script (Tag.group): its numbers of rows. */
  FirefoxRows byplace[TAGS_GROUPS];
  /* For each group of Lua states (tags.h), which is one thread of the file: its numbers of rows.
     Set by firefox_group. */
  FirefoxRows of[TAGS_GROUPS];
  int bylabels;            /* not 0: samples with different label sets are in different sites, and
                              Site.tag of 'leaves' and 'ticksites' is the label set */
  SiteTable leaves;        /* sites of allocations; Site.kind is 3 * (the sample's kind) + (its
                              outcome: READER_DIED, ...) */
  SiteTable ticksites;     /* totals of the time samples by stack and label set */
  SiteTable held;       /* objects alive at the end; Site.kind is the number of the path of
                           references to them, 0: unknown */
  uint64_t last;        /* time of the last stored row of an allocation, us */
  uint64_t address;     /* largest made-up address so far */
  /* Made-up addresses of samples that have died. New samples receive these first, so that addresses
     stay small. (The format pairs an allocation with its death by an address.) */
  uint64_t *unused;
  size_t nunused, unusedsize;
  /* samples whose blocks have died, but whose deaths (rows with their bytes as negative numbers)
     are not stored yet */
  FirefoxDeath *deaths;
  size_t ndeaths, deathsize;
  /* time at which the blocks of 'deaths' were found dead, us */
  uint64_t deathtime;
  /* Numbers of rows of all Lua states (FirefoxRows). 'collections': number of those events that are
     collections. */
  uint64_t rows, timerows, events, collections;
  /* Columns of the rows of allocations, each in a file.
     time    us since the previous row
     stack   index of the stack in 'leaves'
     weight  bytes; negative: a death
     memory  made-up address (FX2)
     whose   tag: a number that represents a Lua state or all states of one script (tags.h) */
  Spill time, stack, weight, memory, whose;
  /* Columns of the rows of time samples, each in a file.
     tick        us since the previous row
     tickstack   index of the stack in 'ticksites'
     tickweight  ns
     tickwhose   tag: a number that represents a Lua state or all states of one script (tags.h) */
  Spill tick, tickstack, tickweight, tickwhose;
  uint64_t lasttick;    /* time of the last stored row of a time sample, us */
  /* Collections, and the marks (names and values) that the program recorded. The comments of
     firefox_collection and firefox_mark describe the entries. */
  Spill event;
  /* Returns texts of scripts. May be set before firefoxfile_write; NULL: the file has no texts. */
  FirefoxSource source;
  void *sourceud;
} Firefox;

/* Initializes f. 'directory' is for temporary files. 'by' is a sum of TAGS_BYLABELS, TAGS_BYSTATE
   and TAGS_BYSCRIPT (tags.h); TAGS_BYTHREAD is ignored. Returns NULL or the reason of a failure;
   call firefox_free in either case. */
const char *firefox_start (Firefox *f, const char *directory, int by);
void firefox_free (Firefox *f);
/* Returns the errno of the first temporary file that has failed, or 0. */
int firefox_error (Firefox *f);

/* Stores the rows of the last deaths, forms the groups of Lua states (tags.h), and counts the rows
   of each group. Call it once after reader_read. Sets elements of left[LEFT_N] to the numbers of
   items that were left out because of limits. */
void firefox_group (Firefox *f, const ReadProfile *r, uint64_t *left);

/* Returns 1 if the file needs a thread (a track of the viewer) for this group of Lua states:
   samples, collections or marks of the group were stored. If none were stored of any group, returns
   1 for group 0. Call it after firefox_group. */
int firefox_has (const Firefox *f, uint32_t group);

#endif
