/* SPDX-License-Identifier: MIT */
/*
** A flight recorder: the events of the last while, and what is still alive from before
** (past.h), in bounded memory. Told to an encoder, at any moment and as often as wanted,
** they are a profile like any other.
**
** Events lie packed, in pieces, oldest first; the newest lie open until they are a piece.
** Used by one thread (the profile's writer) but for ring_bytes. Invariants:
**   RG1  every event that came is in 'past', in one piece or open, in that order;
**   RG2  a piece goes to 'past' whole: when its last event is older than 'ns', or all pieces
**        have more than 'most' bytes;
**   RG3  a native address has its name from the time on that it was first met: its library
**        may be gone later, or memory short.
*/
#ifndef asamp_ring_h
#define asamp_ring_h

#include "event.h"

typedef struct Ring Ring;

/* What a ring was told to keep: the last ns (0: whatever has room), in so many bytes. */
typedef struct RingLimits {
  uint64_t ns;
  size_t most;
} RingLimits;

/* What is in it. */
typedef struct RingTold {
  uint64_t samples, bytes;  /* of before, alive: counts added up; what they stand for */
  uint64_t ns;              /* time that it goes back, before 'now' */
} RingTold;

/* 'config' as that of the encoders to come, whose 'resolve' is replaced (RG3). NULL: no
   memory. */
Ring *ring_new (const RingLimits *limits, EncoderConfig *config, uint64_t now);
void ring_free (Ring *r);

/* It happened before 'now', and after the 'now' of the call before. */
void ring_put (Ring *r, const Event *event, uint64_t now);

/* Lets go of what is too old, and returns when the rest begins, as 'now'. */
uint64_t ring_since (Ring *r, uint64_t now);

/* All of it, to an encoder that was told nothing yet. */
void ring_tell (Ring *r, Encoder *e, uint64_t now, RingTold *told);

/* Bytes of the pieces; from any thread. */
uint64_t ring_bytes (const Ring *r);
/* What past_left counts, and the names that have no room. */
uint64_t ring_left (const Ring *r);
int ring_failed (const Ring *r);

#endif
