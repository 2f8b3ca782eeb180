/* SPDX-License-Identifier: MIT */
/*
** A flight recorder keeps the events of a recent period in memory, as compressed pieces and an open
** buffer. It also keeps older samples whose memory was alive when this period started (past.h).
** Both can be written as a complete profile at any time. Used by the writer thread, except
** ring_bytes.
**
**   RG1  no event is missing unless memory ran out: data of the oldest events are in 'past', the
**        next events in pieces, the newest in the open buffer;
**   RG2  the oldest piece is passed to 'past' when its last event is older than RingLimits.ns, when
**        all pieces together exceed RingLimits.most, or when memory runs out;
**   RG3  a native address is named when it first occurs: its library may be unloaded later.
*/
#ifndef asamp_ring_h
#define asamp_ring_h

#include "event.h"

typedef struct Ring Ring;

/* Limits of the kept events. 'ns': largest length of the kept period; 0: no limit. 'most': largest
   number of bytes of all compressed pieces. */
typedef struct RingLimits {
  uint64_t ns;
  size_t most;
} RingLimits;

/* Totals of ring_emit. */
typedef struct RingTotals {
  /* Totals of the allocation samples that are older than the kept period and whose memory was alive
     at its start.
     samples  number of sampling periods that these samples represent
     bytes    number of bytes that they represent */
  uint64_t samples, bytes;
  uint64_t ns;              /* length of the kept period, ns */
} RingTotals;

/* Makes a flight recorder. *config is the configuration of the encoder to which ring_emit writes.
   Sets config->resolve to a function that returns the names stored for native addresses. Returns
   NULL if out of memory. */
Ring *ring_new (const RingLimits *limits, EncoderConfig *config, uint64_t now);
void ring_free (Ring *r);

/* Adds an event. 'now' is the current time, CLOCK_MONOTONIC, ns: the event happened after the
   previous call, and not later than 'now'. */
void ring_put (Ring *r, const Event *event, uint64_t now);

/* Drops the oldest events until the others are within RingLimits. Returns the start of the kept
   period, ns. */
uint64_t ring_since (Ring *r, uint64_t now);

/* Writes the older samples whose memory was alive at the start of the kept period, and then the
   events of this period, to a new encoder. */
void ring_emit (Ring *r, Encoder *e, uint64_t now, RingTotals *totals);

/* Returns the size of the compressed events, bytes. The newest events are not compressed yet and do
   not count. Thread-safe. */
uint64_t ring_bytes (const Ring *r);
/* Returns the number of stacks, names and other items that are missing because of limits. */
uint64_t ring_left (const Ring *r);
/* Returns 1 if memory ran out: events or names are missing. */
int ring_failed (const Ring *r);

#endif
