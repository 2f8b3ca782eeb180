/* SPDX-License-Identifier: MIT */
/*
** Events in the queue of a profile: their layout in memory, and the call of the encoder for
** each. Owns no memory. Invariants:
**
**   EV1  an event is a head and a body; its size is a multiple of 8, so that the next one is
**        aligned;
**   EV2  bodies contain no pointers: another thread may read them later.
*/
#ifndef asamp_event_h
#define asamp_event_h

#include "encoder.h"

enum EventType {
  EVENT_NAME,           /* n: id; the name, NUL-terminated */
  EVENT_SAMPLE,         /* n: number of new frames; SampleEvent */
  EVENT_TIME,           /* n: number of new frames; TimeEvent */
  EVENT_FATES,          /* n outcomes of one byte */
  EVENT_CLASSFATES,     /* n classes of 32 bits, then n outcomes of one byte */
  EVENT_DEATHS,         /* n run lengths of 32 bits */
  EVENT_COLLECTION,     /* ProfileCollection */
  EVENT_PERIOD,         /* n: period in bytes */
  EVENT_CPUPERIOD, EVENT_WALLPERIOD,  /* n: period in ns */
  EVENT_ALLOCATED,      /* n: bytes */
  EVENT_LEFT,           /* n: number of truncated texts; ProfileLeft */
  EVENT_STACK,          /* n: number of new frames; TimeEvent of a lost sample */
  EVENT_CLASS,          /* n: id; the name, NUL-terminated */
  EVENT_MARK,           /* MarkEvent */
  EVENT_START,          /* n: time; a state starts */
  EVENT_CALLED,         /* the state's name, NUL-terminated */
  EVENT_END,            /* n: allocated bytes; EndEvent; a state has ended */
  EVENT_ORPHANS,        /* n run lengths; OrphansEvent; deaths of orphans of a state */
  EVENT_PATH,           /* n: id; the parent's id of 32 bits, then the step, NUL-terminated */
  EVENT_WALK,           /* n: duration in ns; start time of 64 bits */
  EVENT_HOLDERS,        /* n numbers of 32 bits: 1 if these are the first, else 0; then
			   alternately a number of samples and the id of their path */
  EVENT_RESIDENT,       /* n: bytes, signed; ResidentEvent */
  EVENT_LABELLED        /* n: bytes; set of labels of 32 bits */
};

/* Head of an event; its body follows. */
typedef struct Event {
  uint32_t type;
  uint32_t size;        /* in bytes, including the head */
  uint64_t n;           /* a number whose meaning depends on the type */
  uint32_t state;       /* state to which it belongs */
  uint32_t thread;      /* OS thread that reported it (gettid); 0: that was another thread than the
			   one that runs the state */
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
  char text[];          /* 'what' and its text, each NUL-terminated */
} ResidentEvent;

typedef struct EndEvent {
  uint64_t time;
  uint64_t orphans;     /* living samples of native memory */
} EndEvent;

typedef struct OrphansEvent {
  uint64_t time;
  uint32_t runs[];      /* run lengths over the orphans: alternately alive and dead */
} OrphansEvent;

/* Number of samples, in periods. */
typedef struct EventTally {
  uint64_t samples, timesamples;
} EventTally;

void event_encode (const Event *event, Encoder *e);

/* Adds the periods of an allocation sample or time sample to the tally; other events add none. */
void event_count (const Event *event, EventTally *t);
void event_add (EventTally *to, const EventTally *t);

#endif
