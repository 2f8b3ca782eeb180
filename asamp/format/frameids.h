/* SPDX-License-Identifier: MIT */
/* The ids of frames in a profile. Lua functions have 8, 16, 24, ... Native frames have (address |
   1), where a number replaces the address in a merged file (unite.h). The odd ids up to FRAME_TAIL,
   which no native frame has, belong to frames that represent no code. */
#ifndef asamp_frameids_h
#define asamp_frameids_h

#include <stdint.h>

enum {
  FRAME_TYPE = 1,       /* FRAME_TYPE + 2 * kind: the leaf (innermost frame) of an allocation sample
			   or copy sample in the stock format. The kinds are ProfileKind and
			   COPY_NEW, ... (sample.h) */
  FRAME_TYPES = 56,     /* upper bound of the ids of frames that represent a kind (FRAME_TYPE) */
  /* Innermost frames of time samples that were taken during a collection. A slice of a major
     collection counts as major. */
  FRAME_MINOR = 57, FRAME_MAJOR = 59,
  FRAME_NONE = 61,      /* the only frame of an empty stack */
  FRAME_CUT = 63,       /* replaces the omitted frames of a deep stack */
  FRAME_TAIL = 65       /* replaces callers that are gone from the stack because of tail calls */
};

/* Returns the id of the frame that represents a kind of block or copy (FRAME_TYPE). */
static inline uint64_t frameids_type (int kind) {
  return FRAME_TYPE + 2 * (uint64_t)kind;
}

/* Returns 1 if the id is that of a frame that represents a kind of block or copy (FRAME_TYPE). Then
   sets *kind to the kind. */
static inline int frameids_istype (uint64_t id, uint32_t *kind) {
  *kind = (uint32_t)(id >> 1);
  return (id & 1) != 0 && id < FRAME_TYPES;
}

/*
** Returns 1 if the frame represents no code: a kind, a collection, FRAME_NONE, FRAME_CUT or
** FRAME_TAIL.
*/
static inline int frameids_isnobodys (uint64_t id) {
  return (id & 1) != 0 && id <= FRAME_TAIL;
}

static inline int frameids_iscollection (uint64_t id) {
  return id == FRAME_MINOR || id == FRAME_MAJOR;
}

#endif
