/* SPDX-License-Identifier: MIT */
/*
** Ids of frames. Lua functions have the ids 8, 16, 24, ...; native frames have (address | 1).
** The small odd ids defined here, which no code address has, are frames that represent no code.
*/
#ifndef asamp_frameids_h
#define asamp_frameids_h

#include <stdint.h>

enum {
  FRAME_TYPE = 1,       /* + 2 * kind: the type of an allocation, as a leaf (unmodified VMProf
			   version) */
  FRAME_TYPES = 56,     /* limit of these ids, including those of copies (sample.h) */
  /* leaves of time samples taken during a collection; a slice of a major collection counts
     as major */
  FRAME_MINOR = 57, FRAME_MAJOR = 59,
  FRAME_NONE = 61,      /* the only frame of an empty stack */
  FRAME_CUT = 63,       /* replaces the omitted frames of a deep stack */
  FRAME_TAIL = 65       /* replaces callers that are gone from the stack because of tail calls */
};

static inline uint64_t frameids_type (int kind) {
  return FRAME_TYPE + 2 * (uint64_t)kind;
}

/* Returns 1 if the id is a type's leaf; *kind is then the kind. */
static inline int frameids_istype (uint64_t id, uint32_t *kind) {
  *kind = (uint32_t)(id >> 1);
  return (id & 1) != 0 && id < FRAME_TYPES;
}

/* Returns 1 if the frame represents no code: a type, a collection, FRAME_NONE, _CUT or _TAIL. */
static inline int frameids_isnobodys (uint64_t id) {
  return (id & 1) != 0 && id <= FRAME_TAIL;
}

static inline int frameids_iscollection (uint64_t id) {
  return id == FRAME_MINOR || id == FRAME_MAJOR;
}

#endif
