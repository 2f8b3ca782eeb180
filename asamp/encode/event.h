/* SPDX-License-Identifier: MIT */
/*
** The events in the queue of a profile: their layout, and their encoding.
**
**   EV1  an event is a head and a body. Its size is a multiple of 8;
**   EV2  bodies contain no pointers: another thread reads a body later, when the data to which a
**        pointer refers may be freed.
*/
#ifndef asamp_event_h
#define asamp_event_h

#include "encoder.h"

/* Types of events, with the meaning of Event.n and the body after the head. */
enum EventType {
  /* Name of a function. n: id. Body: name, NUL-terminated */
  EVENT_NAME,
  /* An allocation or copy sample. n: number of frames in the body. Body: SampleEvent */
  EVENT_SAMPLE,
  /* A time sample. n: number of frames in the body. Body: TimeEvent */
  EVENT_TIME,
  /* Survival of samples. n: number of samples. Body: a byte for each: 0: died, 1: survived, 2:
     survived, but the death is not reported later */
  EVENT_FATES,
  /* Survival and classes of samples. n: number of samples. Body: for each, the 32-bit id of its
     class (EVENT_CLASS), then the bytes of EVENT_FATES */
  EVENT_CLASSFATES,
  /* Deaths of survivors. n: number of run lengths. Body: 32-bit run lengths, alternately live
     and dead */
  EVENT_DEATHS,
  /* A collection. Body: ProfileCollection */
  EVENT_COLLECTION,
  /* New sampling period of allocations. n: bytes */
  EVENT_PERIOD,
  /* New period of CPU time or wall time samples. n: ns */
  EVENT_CPUPERIOD, EVENT_WALLPERIOD,
  /* Exact bytes that a state has allocated. n: bytes */
  EVENT_ALLOCATED,
  /* Counts of data dropped by limits. n: number of the program's texts that were truncated. Body:
     ProfileLeft */
  EVENT_LEFT,
  /* The stack of a time sample that was lost because a failed write is being retried
     (profile_room). The stack is still needed: the state's next stack is stored as the difference
     from it (P5 of profile.h). n: number of frames in the body. Body: TimeEvent */
  EVENT_STACK,
  /* Name of a class, that is, of a type of sampled objects. n: id of the class. Body: name,
     NUL-terminated */
  EVENT_CLASS,
  /* A mark, a name with a value that the program adds. Body: MarkEvent */
  EVENT_MARK,
  /* Start of a Lua state. n: CLOCK_MONOTONIC, ns */
  EVENT_START,
  /* Name of a Lua state. Body: name, NUL-terminated */
  EVENT_CALLED,
  /* End of a Lua state. n: bytes allocated. Body: EndEvent */
  EVENT_END,
  /* Deaths of samples of native memory whose Lua state has ended. n: number of run lengths in the
     body. Body: OrphansEvent */
  EVENT_ORPHANS,
  /* A path of references. n: id. Body: 32-bit id of the path without its last reference, then
     the text of the last reference, NUL-terminated */
  EVENT_PATH,
  /* A heap walk that searched for references to sampled objects. n: pause, ns. Body: 64-bit start,
     CLOCK_MONOTONIC, ns */
  EVENT_WALK,
  /* Paths of references that keep live survivors alive. n: number of 32-bit words. Body: a word
     that is 1 or 0, then pairs (number of successive survivors, id of their path). 1: the first
     pair is for the state's oldest survivors; 0: the pairs continue those of the previous event */
  EVENT_HOLDERS,
  /* A row of a snapshot of resident memory: the bytes that one use takes, such as "lua.old".
     n: bytes, signed. Body: ResidentEvent */
  EVENT_RESIDENT,
  /* Exact bytes that a state has allocated with a label set. n: bytes. Body: 32-bit number of
     the set */
  EVENT_LABELLED
};

/* Head of an event; the body follows. */
typedef struct Event {
  uint32_t type;
  uint32_t size;        /* bytes, with the head */
  uint64_t n;           /* a number whose meaning depends on 'type' (enum EventType) */
  uint32_t state;       /* number of the Lua state of the event */
  uint32_t thread;      /* OS thread (gettid) that runs the state; 0: another thread reported the
                           event */
} Event;

/* Body of EVENT_SAMPLE: an allocation or copy sample, and its stack. */
typedef struct SampleEvent {
  ProfileSample sample;
  uint64_t shared;      /* number of outermost frames that are equal to those of the state's
                           previous stack (P5 of profile.h) */
  ProfileFrame frames[];  /* all frames except the shared ones, innermost first */
} SampleEvent;

/* Body of EVENT_TIME and EVENT_STACK: a time sample, and its stack. */
typedef struct TimeEvent {
  ProfileTime sample;
  uint64_t shared;      /* number of outermost frames that are equal to those of the state's
                           previous stack (P5 of profile.h) */
  ProfileFrame frames[];  /* all frames except the shared ones, innermost first */
} TimeEvent;

/* Body of EVENT_MARK. 'time' is CLOCK_MONOTONIC in ns; the lengths are in bytes. */
typedef struct MarkEvent {
  uint64_t time, namelength, valuelength;
  char text[];          /* name and value */
} MarkEvent;

/* Body of EVENT_RESIDENT. 'time' is CLOCK_MONOTONIC in ns. */
typedef struct ResidentEvent {
  uint64_t time;
  char text[];          /* two texts, each NUL-terminated: the use of the memory, such as "lua.old";
                           the file or source line to which the memory belongs, or "" */
} ResidentEvent;

/* Body of EVENT_END. 'time' is CLOCK_MONOTONIC in ns. */
typedef struct EndEvent {
  uint64_t time;
  uint64_t orphans;     /* number of the state's samples of native memory that are alive */
} EndEvent;

/* Body of EVENT_ORPHANS. 'time' is CLOCK_MONOTONIC in ns. */
typedef struct OrphansEvent {
  uint64_t time;
  uint32_t runs[];      /* lengths of runs of successive samples, alternately live and dead ones */
} OrphansEvent;

/* Total numbers of sampling periods that samples represent.
   samples      allocation samples, with those of native memory
   timesamples  time samples
   natives      samples of native memory */
typedef struct EventTally {
  uint64_t samples, timesamples, natives;
} EventTally;

void event_encode (const Event *event, Encoder *e);

/* If the event is an allocation sample or a time sample, adds the number of its sampling periods to
   *t. */
void event_count (const Event *event, EventTally *t);
void event_add (EventTally *to, const EventTally *t);

#endif
