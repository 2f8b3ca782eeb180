/* SPDX-License-Identifier: MIT */
/*
** The ids of frames. Lua functions have 8, 16, 24, ... A native frame has its address with bit 0
** set. The odd ids up to FRAME_TAIL represent no code.
*/
#ifndef asamp_frameids_h
#define asamp_frameids_h

#include <stdint.h>

enum {
  FRAME_TYPE = 1,       /* FRAME_TYPE + 2 * kind (sample.h): innermost frame of an allocation or
                           copy sample in a stock file (doc/profile-format.md) */
  FRAME_TYPES = 56,     /* all ids of kinds (frameids_type) are below this */
  /* Innermost frames of time samples during a minor and during a major collection. */
  FRAME_MINOR = 57, FRAME_MAJOR = 59,
  FRAME_NONE = 61,      /* an empty stack */
  FRAME_CUT = 63,       /* represents the left-out frames of a deep stack */
  FRAME_TAIL = 65       /* represents callers that tail calls replaced */
};

/* Returns the frame id of a kind of block or copy. */
static inline uint64_t frameids_type (int kind) {
  return FRAME_TYPE + 2 * (uint64_t)kind;
}

/* Returns 1 and sets *kind if the id represents a kind. */
static inline int frameids_istype (uint64_t id, uint32_t *kind) {
  *kind = (uint32_t)(id >> 1);
  return (id & 1) != 0 && id < FRAME_TYPES;
}

/* Returns 1 if the id is not of a function, but of a frame such as a kind of block or a
   collection. */
static inline int frameids_isnobodys (uint64_t id) {
  return (id & 1) != 0 && id <= FRAME_TAIL;
}

static inline int frameids_iscollection (uint64_t id) {
  return id == FRAME_MINOR || id == FRAME_MAJOR;
}

#endif
