/* SPDX-License-Identifier: MIT */
/*
** The contents of a profile: samples and collections in the form in which the sampler passes
** them to the writer, before they are encoded. It does not depend on files, threads or Lua.
*/
#ifndef asamp_sample_h
#define asamp_sample_h

#include <stddef.h>
#include <stdint.h>

enum { PROFILE_STOCK = 6, PROFILE_EXTENDED = 7 };

/* Kinds of sampled blocks, in the order of the type ids in the extended format. */
enum ProfileKind {
  KIND_TABLE, KIND_TABLE_ARRAY, KIND_TABLE_HASH, KIND_STRING,
  KIND_LUA_CLOSURE, KIND_C_CLOSURE, KIND_UPVALUE, KIND_USERDATA,
  KIND_COROUTINE, KIND_STACK, KIND_PROTO, KIND_BUFFER,
  KIND_OUTSIDE,	/* memory outside the heap that belongs to a userdata (luaN_outside of seam.h) */
  KIND_NATIVE,	/* memory that native code has allocated with malloc (mallocs.h) */
  KIND_COUNT
};

/*
** Kinds of copy samples (copies.h), in the place of a kind of block. COPY_NEW: bytes copied
** into a new string. COPY_AGAIN: the part of them that comes from the value that the string
** replaces (s in s = s .. x). COPY_GROWN: bytes of a buffer or table that were moved when it
** grew. These samples have no survival outcome.
*/
enum { COPY_NEW = 25, COPY_AGAIN, COPY_GROWN, COPY_END };

static inline int profile_iscopy (int kind) {
  return kind >= COPY_NEW && kind < COPY_END;
}

/* Returns "table", "table array part", ...; kind < KIND_COUNT. */
const char *profile_kindname(int kind);

/* Largest number of frames of a sample that are kept, about the same as in VMProf. */
enum { PROFILE_DEPTH = 1024 };

/* One frame (frameids.h). The line is 0 if it is not known, and in native code. */
typedef struct ProfileFrame {
  uint64_t id;
  uint32_t line;
} ProfileFrame;

typedef struct ProfileSample {
  uint64_t time;     /* CLOCK_MONOTONIC, ns */
  uint64_t size;     /* bytes of the allocated block, rounded up as the heap does */
  uint64_t count;    /* number of sampling points in the block, at least 1. Each represents
		        one period of bytes (in a native sample: the period of native memory) */
  uint64_t thread;   /* number of the OS thread or state; the first is 0 */
  int kind;          /* enum ProfileKind, or COPY_NEW, ... */
  int outside;       /* 1: allocated outside the nursery (a large block) */
  uint32_t label;    /* set of labels of the thread that ran; 0: none */
} ProfileSample;

typedef struct ProfileTime {
  uint64_t time;     /* CLOCK_MONOTONIC, ns */
  uint64_t count;    /* number of periods that it represents, at least 1 (more after timer
		        overruns) */
  uint64_t thread;   /* as in ProfileSample */
  uint32_t label;    /* as in ProfileSample */
} ProfileTime;

/*
** The items that the collector visits in a pause in addition to the live objects (luaN_Looked
** of seam.h).
*/
enum ProfileLooked {
  LOOKED_REMEMBERED, LOOKED_STACKS, LOOKED_WEAK, LOOKED_LISTED, LOOKED_COUNT
};

/*
** The state after a collection, in bytes unless noted otherwise. Collections that follow one
** another quickly and decide no sample's survival outcome may be left out; the next one includes
** their number.
*/
typedef struct ProfileCollection {
  uint64_t time;      /* the end of the collection, CLOCK_MONOTONIC, ns */
  uint64_t inuse;     /* bytes of objects that are alive or not swept yet */
  uint64_t held;      /* bytes obtained from lua_Alloc */
  uint64_t rss;       /* resident set size of the process */
  int major;          /* 0 minor, 1 major */
  uint64_t minors, majors;  /* numbers of collections left out since the previous record */
  uint64_t left;      /* ns of the pauses of those collections */
  uint64_t duration;  /* length of the pause, ns */
  uint64_t processor; /* processor time of the thread in the pause, ns; without waits for a
		         processor */
  uint64_t slices;    /* processor time of slices of a major collection during minor ones, in
		         this pause and those left out, ns */
  uint64_t tenured;   /* bytes that survived their first collection, since the previous record */
  uint64_t planned, charged;  /* bytes of the nurseries since the previous record: the planned
			         size, as far as it was reached, and the bytes actually
			         allocated */
  uint64_t looked[LOOKED_COUNT];  /* numbers of visited items in the pause, indexed by enum
				     ProfileLooked */
  int state;          /* phase of the major collection afterwards: 0 none, 1 marking, 2
		         sweeping, 3 finalizing or just after the atomic phase (only other
		         writers use 3) */
  uint32_t label;     /* as in ProfileSample: of the thread that ran when the collection started */
} ProfileCollection;

/* A label, the element of a set of labels. The texts are NUL-terminated. */
typedef struct ProfileLabel {
  const char *name, *value;
} ProfileLabel;

enum { PROFILE_LABELS = 32 };  /* largest number of labels in a set */

/*
** Numbers of items that were left out because of the sampler's limits. They are written at the
** end of the file.
*/
typedef struct ProfileLeft {
  uint64_t chunks, functions, classes, natives, paths, steps, labelnames, labelvalues, labelsets;
  uint64_t before;  /* number of items that a flight recorder has dropped (ring_left) */
} ProfileLeft;

#endif
