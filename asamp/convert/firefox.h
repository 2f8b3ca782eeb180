/* SPDX-License-Identifier: MIT */
/*
** Converter to the Firefox Profiler's processed profile format, version 64. It writes the part of
** the file whose size depends on the profile. The text of the head (meta, categories, schemas)
** comes from the Lua module asamp.show.firefox.
**
** The converter is a client of the reader. During reading it stores rows in temporary files
** (spills), from which firefoxfile.h writes the file afterwards. Memory: the call tree, one leaf
** (innermost frame) for each site and survival outcome, the reader's samples without an outcome,
** the free addresses, and the strings of names. Order of calls: firefox_start, reader_read,
** firefox_group, firefoxfile_write, firefox_free. Rules:
**   FX1  rows of samples and allocations are in the order of time; all columns of a table have the
**        same length; every index is valid; parents come before their children;
**   FX2  an allocation sample is a row with a positive number of bytes. If the sample died, a
**        second row has the negative number, the same stack and the same address. The first row is
**        at the time of the sample, the second at the time of the collection that found it dead, or
**        at the time of the previous row if that is later. Addresses are small numbers; two live
**        samples never share one. A sample of 0 bytes has no row;
**   FX3  the innermost frame of an allocation sample's stack, its leaf, is the sample's kind, in
**        the category of its survival outcome;
**   FX4  if the profile has paths of references to the objects alive at the end, one more thread
**        shows them: a sample for each row of heldstack.h, at the time of the profile's end;
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

/* Indices into the member meta.categories of the file; the head lists the categories in the same
   order. */
enum FirefoxCategory {
  FIREFOX_OTHER, FIREFOX_LUA, FIREFOX_NATIVE, FIREFOX_COLLECTOR,
  FIREFOX_DIED, FIREFOX_SURVIVED, FIREFOX_UNDECIDED, FIREFOX_HOLDER, FIREFOX_LABELS
};

/* A dead sample whose row with the negative number of bytes (FX2) has not been stored yet. */
typedef struct FirefoxDeath {
  size_t leaf;          /* index into 'leaves': the sample's stack, kind and outcome */
  uint32_t tag;
  uint64_t bytes;
  uint64_t address;
} FirefoxDeath;

/* Numbers of rows of one thread of the file. 'rows': of allocations. 'timerows': of time samples.
   'events': of collections, and of marks (names and values that the program has recorded). */
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
  Tags tags;               /* numbers that distinguish the Lua states of rows, but not their labels
                              (tags.h) */
  FirefoxRows byplace[TAGS_GROUPS];  /* numbers of rows for each place: a state, all states of a
                                        script, or all other states (tags.h) */
  /* Numbers of rows for each group of states: the sums of 'byplace' over the places of the group
     (tags.h). Set by firefox_group. */
  FirefoxRows of[TAGS_GROUPS];
  int bylabels;            /* not 0: Site.tag in 'leaves' and 'ticksites' is a label set */
  SiteTable leaves;        /* for each combination of stack, kind and survival outcome of allocation
                              samples, an entry whose Site.kind is kind * 3 + survival outcome */
  SiteTable ticksites;     /* stacks of time samples */
  SiteTable held;       /* objects alive at the end, by stack; Site.kind is the number of the path
                           of references to the object */
  uint64_t last;        /* time of the last allocation row, us since the start */
  uint64_t address;     /* the largest address used so far */
  uint64_t *unused;     /* addresses that can be used again, at most 'address' */
  size_t nunused, unusedsize;
  FirefoxDeath *deaths; /* sampled objects found dead whose rows with a negative number of bytes are
			   not stored yet (FX2) */
  size_t ndeaths, deathsize;
  /* time at which the samples in 'deaths' were found dead, us since the start */
  uint64_t deathtime;
  /* Numbers of rows in the temporary files. 'rows': of allocations. 'timerows': of time samples.
     'events': of collections, and of marks (names and values that the program has recorded).
     'collections': of collections alone. */
  uint64_t rows, timerows, events, collections;
  /* Columns of the allocation rows, each a temporary file. In this order: us since the previous
     row; index into 'leaves'; bytes; address; tag (tags.h). */
  Spill time, stack, weight, memory, whose;
  /* Columns of the time samples, each a temporary file. In this order: us since the previous time
     sample; index into 'ticksites'; ns; tag (tags.h). */
  Spill tick, tickstack, tickweight, tickwhose;
  uint64_t lasttick;    /* time of the last time sample, us */
  /* Temporary file with the collections, and the marks (names and values that the program has
     recorded); firefox.c describes its layout. */
  Spill event;
  /* Callback, may be set before firefoxfile_write. NULL: the file has no texts of scripts. */
  FirefoxSource source;
  void *sourceud;
} Firefox;

/*
** Initializes f. 'directory' is the folder of the temporary files. 'by' is the sum of the
** properties by which samples are distinguished (TAGS_BY... of tags.h; TAGS_BYTHREAD is ignored).
** Returns NULL, or the reason for a failure. firefox_free must be called in both cases.
*/
const char *firefox_start (Firefox *f, const char *directory, int by);
void firefox_free (Firefox *f);
/* Returns the errno of the first temporary file that has failed; 0: none has failed. */
int firefox_error (Firefox *f);

/*
** Stores the remaining rows with negative numbers of bytes, for samples found dead (FX2). Computes
** the groups of Lua states (tags.h) and their numbers of rows. Called once, after reader_read. Sets
** the counts in 'left' (LEFT_N) of data that the converter leaves out: LEFT_SITES, LEFT_HELD,
** LEFT_TAGS, LEFT_TOGETHER, LEFT_SCRIPTS.
*/
void firefox_group (Firefox *f, const ReadProfile *r, uint64_t *left);

/*
** Returns 1 if the file has a thread for the group of Lua states (tags.h): the group has rows, or
** it is the first group and no group has rows. Called after firefox_group.
*/
int firefox_has (const Firefox *f, uint32_t group);

#endif
