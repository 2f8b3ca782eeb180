/* SPDX-License-Identifier: MIT */
/*
** Events in the profile's queue: how they lie in memory, and which call of the
** encoder each of them is. Owns no memory. Invariants:
**   EV1  an event is a head and a body, its size a multiple of 8, so that the
**        next one is aligned;
**   EV2  bodies hold no pointers: they may be read by another thread, later.
*/
#ifndef asamp_event_h
#define asamp_event_h

#include "encoder.h"

enum EventType {
  EVENT_NAME,           /* n: id; the name, NUL-terminated */
  EVENT_SAMPLE,         /* n: new frames; SampleEvent */
  EVENT_TIME,           /* n: new frames; TimeEvent */
  EVENT_FATES,          /* n of them, a byte each */
  EVENT_CLASSFATES,     /* n classes of 32 bits, then n fates */
  EVENT_DEATHS,         /* n runs of 32 bits */
  EVENT_COLLECTION,     /* ProfileCollection */
  EVENT_PERIOD,         /* n: bytes */
  EVENT_CPUPERIOD, EVENT_WALLPERIOD,  /* n: ns */
  EVENT_ALLOCATED,      /* n: bytes */
  EVENT_LEFT,           /* n: texts that were cut; ProfileLeft */
  EVENT_STACK,          /* n: new frames; TimeEvent of a sample that is lost */
  EVENT_CLASS,          /* n: id; the name, NUL-terminated */
  EVENT_MARK,           /* MarkEvent */
  EVENT_BEGIN,          /* n: time; a state begins */
  EVENT_CALLED,         /* its name, NUL-terminated */
  EVENT_END,            /* n: bytes; EndEvent. It has ended */
  EVENT_ORPHANS,        /* n runs; OrphansEvent. Of a state that has ended */
  EVENT_PATH,           /* n: id; 32 bits, the parent's, then the step, NUL-terminated */
  EVENT_WALK,           /* n: ns that it took; 64 bits, when it began */
  EVENT_HOLDERS,        /* n numbers of 32 bits: 1 or 0, the first of these or not; then
			   so many samples and the id of their path, in turn */
  EVENT_RESIDENT        /* n: bytes, signed; ResidentEvent */
};

/* Head of an event; its body follows. */
typedef struct Event {
  uint32_t type;
  uint32_t size;        /* in bytes, head included */
  uint64_t n;           /* a number that the type defines */
  uint32_t state;       /* whose it is, ... */
  uint32_t thread;      /* ... and the OS thread that has told it (gettid) */
} Event;

typedef struct SampleEvent {
  ProfileSample sample;
  uint64_t shared;
  ProfileFrame frames[];
} SampleEvent;

typedef struct TimeEvent {
  ProfileTime sample;
  uint64_t shared;
  ProfileFrame frames[];
} TimeEvent;

typedef struct MarkEvent {
  uint64_t time, namelength, valuelength;
  char text[];          /* name and value */
} MarkEvent;

typedef struct ResidentEvent {
  uint64_t time;
  char text[];          /* what, and its text, each NUL-terminated */
} ResidentEvent;

typedef struct EndEvent {
  uint64_t time;
  uint64_t orphans;     /* samples of native memory that are alive */
} EndEvent;

typedef struct OrphansEvent {
  uint64_t time;
  uint32_t runs[];      /* of orphans: so many alive, so many dead, in turn */
} OrphansEvent;

/* Samples, counts added up. */
typedef struct EventTally {
  uint64_t samples, timesamples;
} EventTally;

void event_encode (const Event *event, Encoder *e);

/* Adds the event, if it is a sample. */
void event_count (const Event *event, EventTally *t);
void event_add (EventTally *to, const EventTally *t);

#endif
