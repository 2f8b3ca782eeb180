/* SPDX-License-Identifier: MIT */
/*
** Defines the events in the queue of a profile: their layout in memory, and the call of the
** encoder for each. Owns no memory. Invariants:
**
**   EV1  an event is a head and a body. Its size is a multiple of 8, so that the next event is
**        aligned;
**   EV2  bodies contain no pointers, because another thread may read them later.
*/
#ifndef asamp_event_h
#define asamp_event_h

#include "encoder.h"

/* Types of events. The comment of each type states the meaning of Event.n ('n'), and then the body
   of the event. */
enum EventType {
  EVENT_NAME,           /* n: id; the name, NUL-terminated */
  EVENT_SAMPLE,         /* n: number of new frames; SampleEvent */
  EVENT_TIME,           /* n: number of new frames; TimeEvent */
  EVENT_FATES,          /* n: number of outcomes; one byte for each */
  EVENT_CLASSFATES,     /* n: number of outcomes; n classes of 32 bits, then n bytes, one for each
			   outcome */
  EVENT_DEATHS,         /* n: number of run lengths; each has 32 bits */
  EVENT_COLLECTION,     /* a collection; body: ProfileCollection */
  EVENT_PERIOD,         /* n: period in bytes */
  EVENT_CPUPERIOD, EVENT_WALLPERIOD,  /* n: period in ns */
  EVENT_ALLOCATED,      /* n: bytes */
  EVENT_LEFT,           /* n: number of truncated texts; ProfileLeft */
  EVENT_STACK,          /* n: number of new frames; TimeEvent of a lost sample */
  EVENT_CLASS,          /* n: id; the name, NUL-terminated */
  EVENT_MARK,           /* a marker of the program; body: MarkEvent */
  EVENT_START,          /* a state starts. n: its time */
  EVENT_CALLED,         /* the state's name, NUL-terminated */
  EVENT_END,            /* a state has ended. n: its allocated bytes; EndEvent */
  EVENT_ORPHANS,        /* deaths of orphans (samples of native memory that outlived their state).
			   n: number of run lengths; OrphansEvent */
  EVENT_PATH,           /* n: id; the parent's id of 32 bits, then the step, NUL-terminated */
  EVENT_WALK,           /* n: duration in ns; start time of 64 bits */
  /* n: how many numbers of 32 bits are in the body. The first is 1 if the event starts at the first
     sample of the list, 0 if it continues the previous event. Then follow pairs: a number of
     samples, and the id of their path */
  EVENT_HOLDERS,
  EVENT_RESIDENT,       /* n: bytes, signed; ResidentEvent */
  EVENT_LABELLED        /* n: bytes; set of labels of 32 bits */
};

/* Head of an event; its body follows. */
typedef struct Event {
  uint32_t type;
  uint32_t size;        /* size in bytes, including the head */
  uint64_t n;           /* a number whose meaning depends on the type */
  uint32_t state;       /* number of the state to which the event belongs */
  uint32_t thread;      /* OS thread that reported the event (gettid); 0: the event was reported by
			   another thread than the one that runs the state */
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
  char text[];          /* 'what' and 'text' of profile_resident, each NUL-terminated */
} ResidentEvent;

typedef struct EndEvent {
  uint64_t time;
  uint64_t orphans;     /* number of the state's samples of native memory that are alive at its
			   end */
} EndEvent;

typedef struct OrphansEvent {
  uint64_t time;
  uint32_t runs[];      /* run lengths over the orphans: alternately alive and dead */
} OrphansEvent;

/* Numbers of sampling periods of allocation samples and of time samples; a sample may stand for
   several periods. */
typedef struct EventTally {
  uint64_t samples, timesamples;
} EventTally;

void event_encode (const Event *event, Encoder *e);

/* Adds the periods of the event to the tally if it is an allocation sample or a time sample. */
void event_count (const Event *event, EventTally *t);
void event_add (EventTally *to, const EventTally *t);

#endif
