/* SPDX-License-Identifier: MIT */
/*
** This folder has the formats of profiles and heap snapshots. It does not depend on files, threads,
** clocks or Lua, except that filekind.h reads from a descriptor:
**
**   contents of a profile     this file
**   bytes of a VMProf log     vmprof.h (records), objects.h (record 0x0A), frameids.h and
**                             framename.h (frames)
**   details                   details.h parses the texts with the sizes and outcomes of samples
**                             that encode/batch.h composes
**   bytes of a heap snapshot  heapformat.h
**   types of files            filekind.h
**
** doc/profile-format.md and doc/heap-format.md describe the formats. Rules: V1 to V3 (vmprof.h),
** O1 to O3 (objects.h), FN1 (framename.h).
**
** This file: samples and collections as the sampler passes them to the encoder.
*/
#ifndef asamp_sample_h
#define asamp_sample_h

#include <stddef.h>
#include <stdint.h>

/* The two formats: versions of the VMProf log. */
enum { PROFILE_STOCK = 6, PROFILE_EXTENDED = 7 };

/* Kinds of sampled blocks: the type ids of the extended format. */
enum ProfileKind {
  KIND_TABLE, KIND_TABLE_ARRAY, KIND_TABLE_HASH, KIND_STRING,
  KIND_LUA_CLOSURE, KIND_C_CLOSURE, KIND_UPVALUE, KIND_USERDATA,
  KIND_COROUTINE, KIND_STACK, KIND_PROTO, KIND_BUFFER,
  KIND_OUTSIDE,	/* memory outside the heap that belongs to a userdata (luaN_outside of seam.h) */
  KIND_NATIVE,	/* memory that native code has allocated with malloc (mallocs.h) */
  KIND_COUNT
};

/*
** Kinds of copy samples (doc/copies.md), which have no survival outcome. COPY_AGAIN: bytes copied
** to a new string from the string that it replaces, such as s in s = s .. x. COPY_NEW: other bytes
** copied to a new string. COPY_GROWN: bytes of a buffer or table that were moved when it grew.
*/
enum { COPY_NEW = 25, COPY_AGAIN, COPY_GROWN, COPY_END };

static inline int profile_iscopy (int kind) {
  return kind >= COPY_NEW && kind < COPY_END;
}

/* Returns "table", "table array part", ...; 0 <= kind < KIND_COUNT. */
const char *profile_kindname(int kind);

/* Largest number of frames of a stack in a file, about the same as in VMProf. */
enum { PROFILE_DEPTH = 1024 };

/* One frame (frameids.h). The line is 0 if it is not known, and in native code. */
typedef struct ProfileFrame {
  uint64_t id;
  uint32_t line;
} ProfileFrame;

/* An allocation sample, or a sample of copied bytes (COPY_NEW, ...). */
typedef struct ProfileSample {
  uint64_t time;     /* time of the sample, CLOCK_MONOTONIC, ns */
  uint64_t size;     /* bytes of the block, rounded up as the heap does; not used in copy samples */
  uint64_t count;    /* number of sample points in the block, at least 1. Each represents one
		        period of bytes (KIND_NATIVE: the period of native memory) */
  uint64_t thread;   /* number of the Lua state; the first state of the process has 0 */
  int kind;          /* enum ProfileKind, or COPY_NEW, ... */
  int outside;       /* 1: the block was allocated outside the nursery */
  uint32_t label;    /* number of the label set of the coroutine that ran; 0: none */
} ProfileSample;

/* A time sample. */
typedef struct ProfileTime {
  uint64_t time;     /* time of the sample, CLOCK_MONOTONIC, ns */
  uint64_t count;    /* number of periods that the sample represents, at least 1 (more after
		        timer overruns) */
  uint64_t thread;   /* number of the Lua state, as in ProfileSample */
  uint32_t label;    /* number of the label set, as in ProfileSample */
} ProfileTime;

/*
** The kinds of entries that the collector visits in a pause in addition to the live objects, in the
** order of luaN_Looked (seam.h).
*/
enum ProfileLooked {
  LOOKED_REMEMBERED, LOOKED_STACKS, LOOKED_WEAK, LOOKED_LISTED, LOOKED_COUNT
};

/*
** The record of a collection, and the state's memory after it, in bytes unless noted otherwise. A
** collection may be left out if it decides the survival of no sample, and finds no survivor dead
** that the sampler follows. It then has no record, but the next record counts it.
*/
typedef struct ProfileCollection {
  uint64_t time;      /* the end of the collection, CLOCK_MONOTONIC, ns */
  uint64_t inuse;     /* bytes of objects that are alive or not swept yet */
  uint64_t held;      /* reserved bytes: obtained from lua_Alloc or mapped */
  uint64_t rss;       /* resident set size of the process, which may have been read earlier */
  int major;          /* 1: a major collection; 0: a minor one */
  /* Numbers of minor and major collections since the previous record that have no record of their
     own. */
  uint64_t minors, majors;
  uint64_t left;      /* sum of the pauses, in ns, of the collections counted in 'minors' and
			 'majors' */
  uint64_t duration;  /* ns of the pause, or of that part of it that belongs to the collection */
  uint64_t processor; /* processor time of the OS thread in 'duration', ns */
  /* processor time, in ns, of the slices of major collections in this pause and in the pauses of
     the collections left out before it. Only pauses that a minor collection started count. */
  uint64_t slices;
  /* processor time of the OS thread, in ns, from the end of the previous record's collection, and
     of the profiler's work for it, to the start of this one. In the first record it starts at the
     start of sampling. It includes the collections left out. 0: there is none, or another thread
     ran the previous collection. */
  uint64_t mutator;
  uint64_t tenured;   /* bytes tenured since the previous record */
  /* Sums over the nurseries since the previous record, in bytes. 'charged': the bytes charged to
     each nursery. 'planned': the size of each nursery, or its charged bytes if they are fewer. */
  uint64_t planned, charged;
  /* Numbers of entries that the collector visited in the pause, indexed by enum ProfileLooked. */
  uint64_t looked[LOOKED_COUNT];
  /* phase of the major collection after this collection: 0 none, 1 marking, 2 sweeping. Only in
     files of other writers, 3: finalizing, or just after the atomic step */
  int state;
  uint32_t label;     /* number of the label set of the coroutine that ran; 0: none */
} ProfileCollection;

/* A label of a label set. The texts are NUL-terminated. */
typedef struct ProfileLabel {
  const char *name, *value;
} ProfileLabel;

enum { PROFILE_LABELS = 32 };  /* largest number of labels in a set */

/*
** Counts of data that the writer has left out because of its limits. The members have the names of
** the keys in the value of the meta record "asamp.left" (doc/profile-format.md), which is written
** at the end of the file.
*/
typedef struct ProfileLeft {
  uint64_t chunks, functions, classes, natives, paths, steps, labelnames, labelvalues, labelsets;
  uint64_t before;  /* number of items that a flight recorder has left out: ring_left (ring.h) */
} ProfileLeft;

#endif
