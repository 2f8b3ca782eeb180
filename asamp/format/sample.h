/* SPDX-License-Identifier: MIT */
/*
** Samples and collections, as the sampler passes them to the encoder.
**
** This folder has the formats of profiles and heap snapshots, independent of files, threads,
** clocks and Lua. doc/profile-format.md and doc/heap-format.md describe them.
*/
#ifndef asamp_sample_h
#define asamp_sample_h

#include <stddef.h>
#include <stdint.h>

/* The two formats of profiles: the version numbers in the VMProf log. */
enum { PROFILE_STOCK = 6, PROFILE_EXTENDED = 7 };

/* Kinds of sampled blocks. Files in the extended format have these numbers as type ids. */
enum ProfileKind {
  KIND_TABLE, KIND_TABLE_ARRAY, KIND_TABLE_HASH, KIND_STRING,
  KIND_LUA_CLOSURE, KIND_C_CLOSURE, KIND_UPVALUE, KIND_USERDATA,
  KIND_COROUTINE, KIND_STACK, KIND_PROTO, KIND_BUFFER,
  KIND_OUTSIDE,	/* memory outside the heap that a userdata owns */
  KIND_NATIVE,	/* memory from malloc */
  KIND_COUNT
};

/* Kinds of samples of copied bytes (doc/copies.md). COPY_AGAIN: bytes copied to a string that
   replaces the copied one, as in s = s .. x. COPY_NEW: bytes copied to other new strings.
   COPY_GROWN: bytes moved when a buffer or table grew. */
enum { COPY_NEW = 25, COPY_AGAIN, COPY_GROWN, COPY_END };

static inline int profile_iscopy (int kind) {
  return kind >= COPY_NEW && kind < COPY_END;
}

/* Returns the name of a kind, such as "table array part"; 0 <= kind < KIND_COUNT. */
const char *profile_kindname(int kind);

/* Maximum number of frames of a stack in a file. */
enum { PROFILE_DEPTH = 1024 };

/* A frame of a stack. 'id' as in frameids.h. 'line' is 0 if unknown, and in native frames. */
typedef struct ProfileFrame {
  uint64_t id;
  uint32_t line;
} ProfileFrame;

/* An allocation or copy sample. */
typedef struct ProfileSample {
  uint64_t time;     /* CLOCK_MONOTONIC, ns */
  uint64_t size;     /* bytes of the block; in the heap, rounded up to 8. For KIND_OUTSIDE: bytes
                        that were added to those that the userdata owns */
  uint64_t count;    /* number of sampling periods that the sample represents, at least 1 */
  /* Number of the Lua state that allocated the block or copied the bytes. It is written where
     VMProf's format has the number of an OS thread. */
  uint64_t thread;
  int kind;          /* enum ProfileKind, or COPY_... */
  int outside;       /* 1: the block is outside the nursery */
  uint32_t label;    /* label set; 0: none */
} ProfileSample;

/* A time sample. */
typedef struct ProfileTime {
  uint64_t time;     /* CLOCK_MONOTONIC, ns */
  uint64_t count;    /* number of sampling periods that the sample represents, at least 1 */
  /* Number of the Lua state that was running. It is written where VMProf's format has the number of
     an OS thread. */
  uint64_t thread;
  uint32_t label;    /* label set; 0: none */
} ProfileTime;

/* Types of entries that the collector visits in a pause in addition to live objects, as in
   luaN_Looked (seam.h). */
enum ProfileLooked {
  LOOKED_REMEMBERED, LOOKED_STACKS, LOOKED_WEAK, LOOKED_LISTED, LOOKED_COUNT
};

/* A collection, and the memory after it in bytes. A collection that finds neither the outcome nor
   the death of a sampled block may have no record. The next record counts such a collection in
   'minors' or 'majors'. */
typedef struct ProfileCollection {
  uint64_t time;      /* end of the collection, CLOCK_MONOTONIC, ns */
  uint64_t inuse;     /* bytes of objects that are alive or not swept yet */
  uint64_t held;      /* bytes reserved for the heap */
  uint64_t rss;       /* resident bytes of the process; the reading may be older than the
                         collection */
  int major;          /* 1: major; 0: minor */
  /* Numbers of minor and major collections without a record since the previous record. */
  uint64_t minors, majors;
  uint64_t left;      /* sum of the pauses of the collections without a record, ns */
  uint64_t duration;  /* length of the pause, ns. Of a pause with several collections, only the part
                         of this one. */
  uint64_t processor; /* CPU time of the thread during the pause, ns */
  /* CPU time of the slices of major collections that ran in pauses of minor collections since the
     previous record, ns. */
  uint64_t slices;
  /* CPU time of the program since the previous record, ns; 0: unknown. It includes no pauses of
     collections, with or without a record. */
  uint64_t mutator;
  uint64_t tenured;   /* bytes of objects that became old since the previous record */
  /* Sums over the minor collections since the previous record, bytes.
     charged  bytes that the program allocated between the previous collection and the time when
              this one became due
     planned  size of the nursery (the memory planned for new objects), but at most 'charged' */
  uint64_t planned, charged;
  /* How many entries, such as stack slots or entries of weak tables, the collector visited in the
     pause in addition to live objects: for each type (enum ProfileLooked) the number. */
  uint64_t looked[LOOKED_COUNT];
  /* Phase of the major collection. 0: none, 1: marking, 2: sweeping, 3: finalizing (only in data
     read from files of other profilers). */
  int state;
  uint32_t label;     /* label set; 0: none */
} ProfileCollection;

/* A label of a label set. The texts are NUL-terminated. */
typedef struct ProfileLabel {
  const char *name, *value;
} ProfileLabel;

enum { PROFILE_LABELS = 32 };  /* largest number of labels in a set */

/* Numbers of items that were dropped because of limits, for the meta record "asamp.left". */
typedef struct ProfileLeft {
  uint64_t chunks, functions, classes, natives, paths, steps, labelnames, labelvalues, labelsets;
  /* Number of old stacks, names and other items that a flight recorder, which keeps only the newest
     events, has dropped (ring_left). */
  uint64_t before;
} ProfileLeft;

#endif
