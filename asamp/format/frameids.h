/* SPDX-License-Identifier: MIT */
/*
** Ids of frames. Functions written in Lua have 8, 16, 24, ...; native frames
** (address | 1); and these odd ids, which no address of code has, are frames of
** nobody's code. Here they are numbered, and here they are told apart.
*/
#ifndef asamp_frameids_h
#define asamp_frameids_h

#include <stdint.h>

enum {
  FRAME_TYPE = 1,       /* + 2 * kind: the type of an allocation, as leaf (stock) */
  FRAME_TYPES = 56,     /* these are below, and the sorts of copies (sample.h) */
  /* leaves of time samples that were taken within a collection; a slice of a
     major collection is major */
  FRAME_MINOR = 57, FRAME_MAJOR = 59,
  FRAME_NONE = 61,      /* the only frame of an empty stack */
  FRAME_CUT = 63,       /* stands for the frames of a deep stack that are left out */
  FRAME_TAIL = 65       /* stands for the callers that tail calls have replaced */
};

static inline uint64_t frameids_type (int kind) {
  return FRAME_TYPE + 2 * (uint64_t)kind;
}

/* Is it the leaf of a type? Tells which. */
static inline int frameids_istype (uint64_t id, uint32_t *kind) {
  *kind = (uint32_t)(id >> 1);
  return (id & 1) != 0 && id < FRAME_TYPES;
}

/* Is it nobody's code: a type, a collection, none, a cut, tail calls? */
static inline int frameids_isnobodys (uint64_t id) {
  return (id & 1) != 0 && id <= FRAME_TAIL;
}

static inline int frameids_iscollection (uint64_t id) {
  return id == FRAME_MINOR || id == FRAME_MAJOR;
}

#endif
