/* SPDX-License-Identifier: MIT */
/*
** Converts a profile to the Firefox Profiler's processed format, version 64. As a client of the
** reader it stores rows in temporary files; firefoxfile.h then writes the file. The JSON of the
** head comes from the Lua module asamp.show.firefox. Calls: firefox_start, reader_read,
** firefox_group, firefoxfile_write, firefox_free.
**
**   FX1  rows are in the order of time; all columns of a table have the same length; parents come
**        before children;
**   FX2  an allocation sample is a row with its bytes. If it died, a second row has the negative
**        bytes, at the time of death, with the same stack and address. Addresses are small
**        numbers, unique among live samples. A sample of 0 bytes has no row;
**   FX3  the innermost frame of an allocation, its leaf, is the sample's kind, in the category of
**        its outcome;
**   FX4  a further thread shows the paths of references to the objects alive at the end
**        (heldstack.h);
**   FX5  each nonempty group of Lua states (tags.h) has a thread;
**   FX6  a stack with labels has them as outermost frame.
*/
#ifndef asamp_firefox_h
#define asamp_firefox_h

#include "sitetable.h"
#include "readprofile.h"
#include "spill.h"
#include "tags.h"

/* Indexes of meta.categories, in the order of the head. */
enum FirefoxCategory {
  FIREFOX_OTHER, FIREFOX_LUA, FIREFOX_NATIVE, FIREFOX_COLLECTOR,
  FIREFOX_DIED, FIREFOX_SURVIVED, FIREFOX_UNDECIDED, FIREFOX_HOLDER, FIREFOX_LABELS
};

/* A dead sample whose negative row (FX2) is not stored yet. */
typedef struct FirefoxDeath {
  size_t leaf;          /* index in 'leaves' */
  uint32_t tag;
  uint64_t bytes;
  uint64_t address;
} FirefoxDeath;

/* Rows of a thread: allocations; time samples; collections and marks of the program. */
typedef struct FirefoxRows {
  uint64_t rows, timerows, events;
} FirefoxRows;

/* Returns the text of a script, of *n bytes, valid until the next call; NULL: none. */
typedef const char *(*FirefoxSource) (void *ud, const char *file, size_t *n);

typedef struct Firefox {
  ReaderClient client;  /* pass this to reader_read */
  Tags tags;               /* distinguishes Lua states */
  FirefoxRows byplace[TAGS_GROUPS];  /* by place (tags.h) */
  /* By group of states; set by firefox_group. */
  FirefoxRows of[TAGS_GROUPS];
  int bylabels;            /* not 0: Site.tag is a label set */
  SiteTable leaves;        /* stacks of allocations; Site.kind is kind * 3 + outcome */
  SiteTable ticksites;     /* stacks of time samples */
  SiteTable held;       /* objects alive at the end; Site.kind is the number of the path of
                           references */
  uint64_t last;        /* time of the last allocation row, us */
  uint64_t address;     /* largest address used */
  uint64_t *unused;     /* free addresses */
  size_t nunused, unusedsize;
  FirefoxDeath *deaths; /* dead samples without a negative row (FX2) */
  size_t ndeaths, deathsize;
  /* time at which they were found dead, us */
  uint64_t deathtime;
  /* Numbers of stored rows: of allocations; of time samples; of collections and marks; of
     collections. */
  uint64_t rows, timerows, events, collections;
  /* Columns of allocations: us since the previous row; stack (index in 'leaves'); bytes;
     address; tag (tags.h). */
  Spill time, stack, weight, memory, whose;
  /* Columns of time samples: us since the previous one; stack (index in 'ticksites'); ns; tag. */
  Spill tick, tickstack, tickweight, tickwhose;
  uint64_t lasttick;    /* us */
  /* Collections and marks; firefox.c describes the layout. */
  Spill event;
  /* May be set before firefoxfile_write. NULL: no texts of scripts. */
  FirefoxSource source;
  void *sourceud;
} Firefox;

/* Initializes f. 'directory' is for temporary files; 'by' is a sum of TAGS_BY* (threads
   ignored). Returns NULL or the reason of a failure; call firefox_free in either case. */
const char *firefox_start (Firefox *f, const char *directory, int by);
void firefox_free (Firefox *f);
/* Returns the errno of the first temporary file that has failed, or 0. */
int firefox_error (Firefox *f);

/* Stores the remaining negative rows and computes the groups of states. Call it once after
   reader_read. Sets the counts of left-out data in left[LEFT_N]. */
void firefox_group (Firefox *f, const ReadProfile *r, uint64_t *left);

/* Returns 1 if the group has a thread in the file: it has rows, or no group has and it is the
   first. Call it after firefox_group. */
int firefox_has (const Firefox *f, uint32_t group);

#endif
