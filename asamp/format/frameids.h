/* SPDX-License-Identifier: MIT */
/*
** Frame ids: the numbers that identify the frames of stacks in a profile. Lua functions have the
** ids 8, 16, 24, ... The id of a native frame is its code address with bit 0 set, and with the
** number of its object file in bits 48 to 62 (unwind/codefile.h). The odd ids up to FRAME_TAIL are
** pseudo-frames, such as "minor collection", which represent no code.
*/
#ifndef asamp_frameids_h
#define asamp_frameids_h

#include <stdint.h>

enum {
  FRAME_TYPE = 1,       /* FRAME_TYPE + 2 * kind: pseudo-frame for a kind of block or copy
                           (sample.h); the innermost frame of an allocation or copy sample in files
                           of version 6 */
  FRAME_TYPES = 56,     /* frameids_type returns only ids below this */
  /* Innermost frames of time samples that were taken during a minor or a major collection. */
  FRAME_MINOR = 57, FRAME_MAJOR = 59,
  FRAME_NONE = 61,      /* represents an empty stack */
  FRAME_CUT = 63,       /* represents the frames that a deep stack leaves out */
  FRAME_TAIL = 65       /* represents callers that tail calls have replaced */
};

/* Returns the id of the pseudo-frame for a kind of block or copy. */
static inline uint64_t frameids_type (int kind) {
  return FRAME_TYPE + 2 * (uint64_t)kind;
}

/* Returns 1 if the id is that of a kind of block or copy, and then sets *kind to this kind.
   Otherwise *kind has no meaning. */
static inline int frameids_istype (uint64_t id, uint32_t *kind) {
  *kind = (uint32_t)(id >> 1);
  return (id & 1) != 0 && id < FRAME_TYPES;
}

/* Returns 1 if the id is that of a pseudo-frame, such as a kind of block or a collection, and not
   of a function. */
static inline int frameids_isnobodys (uint64_t id) {
  return (id & 1) != 0 && id <= FRAME_TAIL;
}

static inline int frameids_iscollection (uint64_t id) {
  return id == FRAME_MINOR || id == FRAME_MAJOR;
}

#endif
