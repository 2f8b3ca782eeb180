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

/* Types of events. The comment of each type states the meaning of Event.n ('n') and the content of
   the event's body. */
enum EventType {
  EVENT_NAME,           /* name of a function. n: its id. Body: the name, NUL-terminated */
  EVENT_SAMPLE,         /* allocation sample, or sample of copied bytes. n: number of new frames.
			   Body: SampleEvent */
  EVENT_TIME,           /* time sample. n: number of new frames. Body: TimeEvent */
  EVENT_FATES,          /* survival of samples. n: their number. Body: one byte for each sample */
  EVENT_CLASSFATES,     /* survival and classes of samples. n: their number. Body: n classes of 32
			   bits, then n bytes, one for the survival of each sample */
  EVENT_DEATHS,         /* deaths of samples. n: number of run lengths. Body: the run lengths, of 32
			   bits each */
  EVENT_COLLECTION,     /* a collection. n: not used. Body: ProfileCollection */
  EVENT_PERIOD,         /* new period of allocation samples. n: bytes. No body */
  EVENT_CPUPERIOD, EVENT_WALLPERIOD,  /* new period of time samples. n: ns. No body */
  EVENT_ALLOCATED,      /* bytes that a state has allocated. n: their number. No body */
  EVENT_LEFT,           /* counts of data dropped because of limits. n: number of truncated texts.
			   Body: ProfileLeft */
  EVENT_STACK,          /* stack of a lost time sample, needed for the next stack. n: number of new
			   frames. Body: TimeEvent */
  EVENT_CLASS,          /* name of a class. n: its id. Body: the name, NUL-terminated */
  EVENT_MARK,           /* marker of the program. n: not used. Body: MarkEvent */
  EVENT_START,          /* start of a state. n: its time, ns. No body */
  EVENT_CALLED,         /* name of a state. n: not used. Body: the name, NUL-terminated */
  EVENT_END,            /* end of a state. n: bytes that it has allocated. Body: EndEvent */
  EVENT_ORPHANS,        /* deaths of orphans (samples of native memory that outlived their state).
			   n: number of run lengths. Body: OrphansEvent */
  EVENT_PATH,           /* path of holders. n: its id. Body: the id of the parent path, of 32 bits,
			   then the text of the last step, NUL-terminated */
  EVENT_WALK,           /* search for holders. n: ns for which it stopped the program. Body: its
			   start, CLOCK_MONOTONIC in ns, 64 bits */
  /* Holders of samples. n: number of numbers, of 32 bits, in the body. The first is 1 if the event
     starts at the first sample of the list, 0 if it continues the previous event. Then follow
     pairs: a number of samples, and the id of their path */
  EVENT_HOLDERS,
  EVENT_RESIDENT,       /* row of resident memory. n: bytes, signed. Body: ResidentEvent */
  EVENT_LABELLED        /* bytes that a state has allocated with a label set. n: their number. Body:
			   number of the set, 32 bits */
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
