/* SPDX-License-Identifier: MIT */
/*
** A flight recorder keeps the events of a recent period in memory, and the samples from before
** that period that are still alive (past.h). Its memory is bounded. These events and samples can
** be written to an encoder at any time and repeatedly, and together form a complete profile.
**
** Events are stored in compressed pieces, oldest first. The newest events are in an open buffer
** until it is full. Used by one thread (the profile's writer), except ring_bytes. Invariants:
**
**   RG1  unless memory ran out (ring_failed), no event is missing. The oldest events were passed
**        to 'past', the next ones are in pieces, and the newest ones are in the open buffer;
**   RG2  pieces are passed to 'past' as a whole, the oldest first. The oldest piece is passed when
**        its last event is older than 'ns', or when all compressed pieces together exceed 'most'
**        bytes. When memory runs out, all pieces are passed;
**   RG3  a native address is named when it first occurs, because later its library may be unloaded
**        or memory may be exhausted.
*/
#ifndef asamp_ring_h
#define asamp_ring_h

#include "event.h"

typedef struct Ring Ring;

/* Limits of a flight recorder. 'ns': length of the period whose events are kept; 0: unlimited.
   'most': largest size of the kept events, compressed, in bytes. */
typedef struct RingLimits {
  uint64_t ns;
  size_t most;
} RingLimits;

/* Totals of ring_emit. */
typedef struct RingTotals {
  uint64_t samples, bytes;  /* 'samples': number of sampling periods of the samples from before the
			       kept period that are still alive. 'bytes': bytes that they
			       represent */
  uint64_t ns;              /* length of the kept period, which ends at 'now', in ns */
} RingTotals;

/*
** Makes a recorder that starts at the time 'now'. *config is the configuration of the encoders for
** ring_emit; this function replaces its callback 'resolve' by one that returns the names that the
** recorder has stored (RG3). Returns NULL if there is not enough memory.
*/
Ring *ring_new (const RingLimits *limits, EncoderConfig *config, uint64_t now);
void ring_free (Ring *r);

/* Adds an event that happened between the 'now' of the previous call and this 'now'. */
void ring_put (Ring *r, const Event *event, uint64_t now);

/* Drops the oldest events, which are beyond the limits (RG2): passes them to past.h, which keeps
   only the data that later events need. Returns the start of the kept period, ns. */
uint64_t ring_since (Ring *r, uint64_t now);

/* Writes all kept events, and the samples from before them that are still alive, to a new
   encoder. */
void ring_emit (Ring *r, Encoder *e, uint64_t now, RingTotals *totals);

/* Returns the compressed size, in bytes, of the kept events, without the newest ones, which are not
   compressed yet. Thread-safe. */
uint64_t ring_bytes (const Ring *r);
/* Returns the number of items that the recorder has dropped because of limits: the sum of past_left
   and of the names of native functions beyond the limits. */
uint64_t ring_left (const Ring *r);
/* Returns 1 if memory ran out: events or names are missing. */
int ring_failed (const Ring *r);

#endif
