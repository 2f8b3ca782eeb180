/* SPDX-License-Identifier: MIT */
/*
** What a profile tells: samples and collections as the sampler hands them to the
** writer, before any of it is bytes. Knows no file, no thread and no Lua.
*/
#ifndef asamp_sample_h
#define asamp_sample_h

#include <stddef.h>
#include <stdint.h>

enum { PROFILE_STOCK = 6, PROFILE_EXTENDED = 7 };

/* What was allocated. The order is the type id of the extended format. */
enum ProfileKind {
  KIND_TABLE, KIND_TABLE_ARRAY, KIND_TABLE_HASH, KIND_STRING,
  KIND_LUA_CLOSURE, KIND_C_CLOSURE, KIND_UPVALUE, KIND_USERDATA,
  KIND_COROUTINE, KIND_STACK, KIND_PROTO, KIND_BUFFER,
  KIND_OUTSIDE,	/* what a userdata stands for (luaN_outside of seam.h) */
  KIND_NATIVE,	/* memory that code of the process has from malloc (mallocs.h) */
  KIND_COUNT
};

/*
** What a sample of copies tells (copies.h), in place of a kind: bytes that a new string
** was made of; the part of them that it has of what it replaces, s in s = s .. x; bytes
** that a buffer or a table had, and that were moved when it grew. These have no fate.
*/
enum { COPY_NEW = 25, COPY_AGAIN, COPY_GROWN, COPY_END };

static inline int profile_iscopy (int kind) {
  return kind >= COPY_NEW && kind < COPY_END;
}

/* "table", "table array part", ... ; kind < KIND_COUNT. */
const char *profile_kindname(int kind);

/* Frames of a sample that are kept, about as many as VMProf itself keeps. */
enum { PROFILE_DEPTH = 1024 };

/* One frame (frameids.h). Of what is not written in Lua the line is 0, as where it is unknown. */
typedef struct ProfileFrame {
  uint64_t id;
  uint32_t line;
} ProfileFrame;

typedef struct ProfileSample {
  uint64_t time;     /* CLOCK_MONOTONIC, ns */
  uint64_t size;     /* bytes of the allocated block, rounded as the heap does */
  uint64_t count;    /* sampling points that the block crossed, >= 1; each
                        stands for one period of bytes (of a native one: of
                        native memory's own) */
  uint64_t thread;   /* number of the OS thread or state; the first is 0 */
  int kind;          /* enum ProfileKind, or of copies */
  int outside;       /* 1: allocated outside the nursery (large) */
  uint32_t label;    /* set of labels of the thread that ran; 0: none */
} ProfileSample;

typedef struct ProfileTime {
  uint64_t time;     /* CLOCK_MONOTONIC, ns */
  uint64_t count;    /* periods it stands for, >= 1 (timer overruns) */
  uint64_t thread;   /* as in ProfileSample */
  uint32_t label;    /* likewise */
} ProfileTime;

/* What a pause looks at besides the objects that it finds alive (luaN_Looked of seam.h). */
enum ProfileLooked {
  LOOKED_REMEMBERED, LOOKED_STACKS, LOOKED_WEAK, LOOKED_LISTED, LOOKED_COUNT
};

/*
** State after one collection, in bytes unless said otherwise. Collections that
** follow each other at short intervals and decide nothing may be left out: the
** next one counts them.
*/
typedef struct ProfileCollection {
  uint64_t time;      /* CLOCK_MONOTONIC, ns, at the collection's end */
  uint64_t inuse;     /* bytes in live or not yet swept objects */
  uint64_t held;      /* bytes obtained from lua_Alloc */
  uint64_t rss;       /* resident set size of the process */
  int major;          /* 0 minor, 1 major */
  uint64_t minors, majors;  /* left out since the collection before, ... */
  uint64_t left;      /* ... and their pauses, ns */
  uint64_t duration;  /* of the pause, ns */
  uint64_t processor; /* of that, CPU time of the thread: without waits for a processor */
  uint64_t slices;    /* of that and of 'left', CPU time of slices of a major collection in the
                         pauses of minor ones */
  uint64_t tenured;   /* bytes that survived their first collection, since the
                         collection before */
  uint64_t planned, charged;  /* bytes of the nurseries since then: as they were to be, as
                         far as they came; what they were filled with */
  uint64_t looked[LOOKED_COUNT];  /* in the pause, by enum ProfileLooked */
  int state;          /* of the major collection after this: 0 none, 1 marking,
                         2 sweeping; 3 finalizing or its atomic phase just
                         done, of other writers only */
  uint32_t label;     /* as in ProfileSample: of who ran when it came */
} ProfileCollection;

/* A label: what a set of them is made of. The texts end in NUL. */
typedef struct ProfileLabel {
  const char *name, *value;
} ProfileLabel;

enum { PROFILE_LABELS = 32 };  /* of a set, at most */

/* What limits of the sampler have left out, told before the end of the file. */
typedef struct ProfileLeft {
  uint64_t chunks, functions, classes, natives, paths, steps, labelnames, labelvalues, labelsets;
  uint64_t before;  /* of a flight recorder (ring_left) */
} ProfileLeft;

#endif
