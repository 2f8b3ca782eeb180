/* SPDX-License-Identifier: MIT */
/*
** The queue of a profile, which passes events from the program's threads (profileevents.c) to the
** writer thread (profilewriter.c). It has two buffers: the threads add events to the active one,
** queue[active]; the writer reads the other one. encoder.h defines the log, livefile.h the file.
**
**   Q1  the fields 'queue', 'active', 'error', 'stop', 'taken' and 'lost' of struct Profile need
**       the lock. Exceptions: profile_exit waits only 0.5 s for the lock, then continues without
**       it; the writer reads 'error', and the buffer that is not active, without it;
**   Q2  the writer never holds the lock while it encodes, writes or resolves names;
**   Q3  a thread waits for space only while the writer works: not after an error, after the end,
**       or in a forked child;
**   Q4  the field 'taken' counts all samples reported to the profile: those in the file, those
**       in the queue or being written, and those in the field 'lost';
**   Q5  an event is in the queue when Queue.used, the filled bytes of its buffer, includes it.
**       While a thread reports an event, its thread-local variable 'emitting' is set, so that
**       exit() in a signal handler can drop the incomplete event;
**   Q6  events reported after the end are not counted, not even as lost;
**   Q7  only profilequeue_wake signals 'work', the condition variable that wakes the writer. A
**       call in a signal handler that has interrupted a call for the same profile does nothing.
*/
#ifndef asamp_profilequeue_h
#define asamp_profilequeue_h

#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "event.h"
#include "livefile.h"
#include "place.h"
#include "profile.h"
#include "spare.h"
#include "workers.h"

/* Attributes of a thread-local variable that a signal handler may access: with these attributes, an
   access never allocates memory. */
#define OFTHREAD	__thread __attribute__((tls_model("initial-exec")))

#define QUEUE_BYTES	(2u << 20)    /* size of each of the queue's two buffers, bytes */
/* The writer is woken when a buffer has this number of bytes. The number is small enough
   that the writer still finds the bytes in the CPU cache. */
#define WAKE_BYTES	(256u << 10)
/* Longest time from a call of Profile.round that had work to the next call, ns. Each call that had
   no work doubles this time, up to about FLUSH_NS. */
#define SOON_NS		1000000

typedef struct Queue {
  unsigned char *data;  /* QUEUE_BYTES bytes of events */
  size_t used;          /* bytes of complete events in 'data' */
} Queue;

/* A request of profile_dump to the writer thread. It is a local variable of profile_dump. */
typedef struct Wish {
  const char *to;
  int isshort, isdone;
  int error;              /* result: an errno, or 0 */
  char *path, why[256];
  size_t pathsize;
} Wish;

struct Profile {
  pthread_mutex_t lock;
  pthread_cond_t work;    /* wakes the writer */
  pthread_cond_t room;    /* wakes threads that wait for space */
  Worker *worker;         /* thread that runs the writer */
  pid_t pid;              /* process that runs the writer thread */
  Queue queue[2];
  int active;             /* index in 'queue' of the buffer that receives events */
  int stop;               /* 1: the profile ends, so the writer must finish */
  int ended;              /* 1: the writer thread has ended and the file is closed (profile_end) */
  size_t reserved;        /* bytes of the event being reported */
  EventTally inhand;      /* numbers of samples in the event being reported */
  int error;              /* errno of the first failure of the file; 0: none */
  int stalled;            /* errno of the failed write that is now being tried again; 0: there is
                             none. May also be read without the lock. */
  /* Number of sampling periods of samples that were dropped before they were reported to the
     profile (profile_lost). */
  uint64_t elsewhere;
  uint64_t refused;       /* sum of 'count' of the calls of profile_offer that returned 0; atomic */
  /* Numbers of samples reported to the profile, including those in 'lost'. */
  EventTally taken;
  /* Numbers of samples reported to the profile that did not reach the file. */
  EventTally lost;
  uint64_t cut;           /* number of truncated texts; atomic */
  /* the fields from 'file' to 'written' belong to the writer thread */
  LiveFile file;
  Place place;
  EventTally unflushed;        /* numbers of samples encoded since the last flush */
  uint64_t sure;               /* size of the file at the last flush, bytes */
  /* Time of the last flush, ns; or the last time at which a flush was due but not needed. The next
     flush is due FLUSH_NS later. */
  uint64_t flushed;
  int dirty;              /* 1: events arrived since the last flush */
  Encoder *encoder;
  /* How much of the first stall was reported to the user. 0: nothing. 1: its start. 2: its start
     and its end. In a stall, writes fail and are tried again. */
  int stallreported;
  /* Number of samples that had been lost when the last stall started. When the stall ends, the
     increase is reported as lost in the stall. In a stall, writes fail and are tried again. */
  uint64_t gap;
  void (*reportstall)(const char *path, int error, uint64_t lost);
  int (*round)(void);
  uint64_t pause;         /* longest time until the next call of 'round', ns (SOON_NS) */
  EventTally written;     /* numbers of samples in the flushed part of the file */
  clockid_t clock;        /* CPU clock of the writer thread */
  char *tuning;           /* value of the environment variable LUA_GC when the profile was opened;
                             NULL: it was not set */
  int whole;              /* 1: the writer has written all events; atomic */
  int done;               /* 1: the writer has written all events and closed the file; atomic */
  Wish *wish;             /* request of profile_dump; NULL: none */
  pthread_cond_t answered;
  /* the flight recorder; NULL: there is none, or it has ended */
  Ring *ring;
  ProfileConfig config;   /* flight recorder: the options of its files, with copied strings */
  struct stat folder;     /* flight recorder: device and inode of config.folder */
  Spare spare;            /* reserved memory, which the writer frees when memory runs out */
};

/* Returns the number of all lost samples. Lock held. */
static inline uint64_t profilequeue_lost (const Profile *p) {
  return p->lost.samples + p->lost.timesamples + p->elsewhere;
}

/* Wakes the writer (Q7). */
void profilequeue_wake (Profile *p);

/* Fills the totals of the profile. Lock held. */
void profilequeue_totals (const Profile *p, ProfileTotals *t);

#endif
