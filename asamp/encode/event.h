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

/* Types of events. Each comment states the meaning of the event, the meaning of its number Event.n,
   and the data that follow the head struct Event (its body). */
enum EventType {
  /* Name of a function. Event.n: id of the function. Body: the name, NUL-terminated */
  EVENT_NAME,
  /* An allocation sample, or a sample of copied bytes (COPY_NEW, ... of sample.h). Event.n: number
     of frames in the body, which the state's previous stack does not have. Body: SampleEvent */
  EVENT_SAMPLE,
  /* A time sample. Event.n: number of frames in the body, which the state's previous stack does not
     have. Body: TimeEvent */
  EVENT_TIME,
  /* Whether sampled objects survived the collection that has decided this. Event.n: number of
     samples. Body: one byte for each sample */
  EVENT_FATES,
  /* Whether sampled objects survived, and their classes. Event.n: number of samples. Body: a class
     id of 32 bits for each sample, then one byte for the survival of each */
  EVENT_CLASSFATES,
  /* Deaths of sampled objects. Event.n: number of run lengths. Body: the run lengths, of 32 bits
     each; alternately samples that are alive and samples that died */
  EVENT_DEATHS,
  /* A garbage collection. Event.n is not used. Body: ProfileCollection */
  EVENT_COLLECTION,
  /* The sampling period of allocations has changed. Event.n: the new period in bytes; no data
     follow the head */
  EVENT_PERIOD,
  /* The sampling period of CPU time, or of wall time, has changed. Event.n: the new period in ns;
     no data follow the head */
  EVENT_CPUPERIOD, EVENT_WALLPERIOD,
  /* Bytes that a Lua state has allocated. Event.n: number of these bytes; no data follow the
     head */
  EVENT_ALLOCATED,
  /* Counts of data that the profiler dropped because of its limits. Event.n: number of truncated
     texts. Body: ProfileLeft */
  EVENT_LEFT,
  /* Stack of a time sample that was lost. The state's next stack is stored as a difference from it.
     Event.n: number of frames in the body. Body: TimeEvent */
  EVENT_STACK,
  /* Name of a class of objects. Event.n: id of the class. Body: the name, NUL-terminated */
  EVENT_CLASS,
  /* A mark: a name and a value that the program has recorded at a certain time. Event.n is not
     used. Body: MarkEvent */
  EVENT_MARK,
  /* Start of a Lua state. Event.n: time of the start, ns; no data follow the head */
  EVENT_START,
  /* Name of a Lua state. Event.n is not used. Body: the name, NUL-terminated */
  EVENT_CALLED,
  /* End of a Lua state. Event.n: number of bytes that the state has allocated. Body: EndEvent */
  EVENT_END,
  /* Deaths of orphans (samples of native memory that outlived their Lua state). Event.n: number of
     run lengths. Body: OrphansEvent */
  EVENT_ORPHANS,
  /* A path of references from a root to a live object. Event.n: id of the path. Body: id of the
     path without its last reference, of 32 bits, then a text that describes the last reference,
     NUL-terminated */
  EVENT_PATH,
  /* A walk over the heap that searches for the references to live sampled objects. Event.n: ns
     for which it stopped the program. Body: its start, CLOCK_MONOTONIC in ns, 64 bits */
  EVENT_WALK,
  /* Paths of references (EVENT_PATH) that keep sampled objects alive. Event.n: count of 32-bit
     numbers in the body. The first is 1 if the event starts at the first sample of the list, 0 if
     it continues the previous event. Then follow pairs: a count of samples, and the id of their
     path */
  EVENT_HOLDERS,
  /* One use of resident memory, with its size. Event.n: the size in bytes, a signed number. Body:
     ResidentEvent */
  EVENT_RESIDENT,
  /* Bytes that a Lua state has allocated with a label set. Event.n: number of these bytes. Body:
     number of the label set, 32 bits */
  EVENT_LABELLED
};

/* Head of an event; its body follows. */
typedef struct Event {
  uint32_t type;
  uint32_t size;        /* size in bytes, including the head */
  uint64_t n;           /* a number whose meaning depends on the type (enum EventType) */
  uint32_t state;       /* number of the Lua state to which the event belongs */
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
  char text[];          /* name (namelength bytes) and value (valuelength bytes) of the mark */
} MarkEvent;

typedef struct ResidentEvent {
  uint64_t time;
  char text[];          /* arguments 'what' and 'text' of profile_resident, each NUL-terminated */
} ResidentEvent;

typedef struct EndEvent {
  uint64_t time;
  uint64_t orphans;     /* number of the Lua state's samples of native memory that are alive when
			   the state ends */
} EndEvent;

typedef struct OrphansEvent {
  uint64_t time;
  uint32_t runs[];      /* lengths of runs of orphans (samples of native memory that outlived their
			   Lua state): alternately runs of live and of dead ones */
} OrphansEvent;

/* Numbers of sampling periods of allocation samples and of time samples; a sample may represent
   several periods. */
typedef struct EventTally {
  uint64_t samples, timesamples;
} EventTally;

void event_encode (const Event *event, Encoder *e);

/* If the event is an allocation sample or a time sample, adds the number of sampling periods that
   it represents to the tally. */
void event_count (const Event *event, EventTally *t);
void event_add (EventTally *to, const EventTally *t);

#endif
