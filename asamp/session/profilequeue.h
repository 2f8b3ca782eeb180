/* SPDX-License-Identifier: MIT */
/*
** Internals of a profile: a queue of events between the program's threads (profileevents.c) and
** the writer thread (profilewriter.c). encoder.h defines the meaning of the bytes, livefile.h
** handles the file.
**
** Invariants (the rules P1 to P8 are in profile.h):
**   Q1  'queue', 'active', 'error', 'stop', 'taken' and 'lost' are accessed with 'lock' held,
**       except that profile_exit does without a lock that it cannot take, and that the writer,
**       which sets 'error', reads 'error' without it. The inactive buffer belongs to the writer;
**   Q2  the writer never holds the lock while it encodes, writes or resolves names;
**   Q3  a thread waits for space only while the writer works: not after an error, after the
**       end, or in the child of a fork;
**   Q4  taken = samples in the file + samples on their way + lost;
**   Q5  an event counts from its commit on: exit() in a signal handler may have interrupted
**       this OS thread in the middle of an event, with the lock held, and that event is never
**       completed. Meanwhile the thread-local variable 'emitting' is set;
**   Q6  events of other threads after the end of the profile, in a process that a signal ends,
**       are not part of it and do not count as lost;
**   Q7  'work' is signalled by profilequeue_wake only, and never recursively: exit() in a signal
**       handler may have interrupted that function as well.
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

/*
** Storage class of thread-local variables that a signal handler may access: no access
** allocates.
*/
#define OFTHREAD	__thread __attribute__((tls_model("initial-exec")))

#define QUEUE_BYTES	(2u << 20)    /* bytes of each of the two buffers */
#define WAKE_BYTES	(256u << 10)  /* fill level at which the writer is woken, so that data
				         pass through the CPU caches */
#define SOON_NS		1000000       /* ns until the next call of 'round', doubled up to
				         FLUSH_NS while it has no work */

typedef struct Queue {
  unsigned char *data;  /* QUEUE_BYTES bytes */
  size_t used;
} Queue;

/* Request of profile_dump to the writer. On the stack of the waiting thread. */
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
  pthread_cond_t room;    /* wakes the program: the active buffer is empty, or never will be */
  Worker *worker;         /* thread that runs the writer */
  pid_t pid;              /* process that has the writer's thread */
  Queue queue[2];
  int active;             /* index of the buffer that receives events */
  int stop;
  int ended;              /* 1: there is no writer and no file any more */
  size_t reserved;        /* bytes reserved for the event being reported */
  EventTally inhand;      /* samples of the event being reported */
  int error;              /* errno of the first failure */
  int stalled;            /* errno of the present stall of the file, or 0; also read without
			     the lock */
  uint64_t elsewhere;     /* samples lost before they reached the queue */
  uint64_t refused;       /* samples that profile_offer refused for lack of space; the caller
			     counts them as lost, too; atomic */
  EventTally taken;            /* samples passed to the queue, also if lost there */
  EventTally lost;
  uint64_t cut;           /* number of truncated texts; atomic */
  /* fields of the writer */
  LiveFile file;
  Place place;
  EventTally unflushed;        /* samples encoded since the last flush */
  uint64_t sure;               /* bytes of the file at the last flush */
  uint64_t flushed;       /* time of the last complete flush, ns */
  int dirty;              /* 1: events arrived since the last flush */
  Encoder *encoder;
  int stallreported;               /* 1: the first stall was reported; 2: its end was, too */
  uint64_t gap;           /* samples lost before the last stall */
  void (*reportstall)(const char *path, int error, uint64_t lost);
  int (*round)(void);
  uint64_t pause;         /* ns until the next round, if there is a 'round' function */
  EventTally written;     /* samples that are readable in the file */
  clockid_t clock;        /* CPU time of the writer's thread */
  char *tuning;           /* LUA_GC at the start of the profile, or NULL */
  int whole;              /* 1: the writer writes no more; atomic */
  int done;               /* 1: the file is also closed; atomic */
  Wish *wish;             /* lock held; NULL: none */
  pthread_cond_t answered;
  /* NULL: not a flight recorder, or ended */
  Ring *ring;
  ProfileConfig config;   /* for a flight recorder; with copies of its strings */
  struct stat folder;     /* identity of config.folder, if that is above 0 */
  Spare spare;            /* memory reserve for writing when memory is exhausted; used by the
			     writer */
};

/* Returns the number of samples lost before, in and after the queue. Lock held. */
static inline uint64_t profilequeue_lost (const Profile *p) {
  return p->lost.samples + p->lost.timesamples + p->elsewhere;
}

/* Wakes the writer. Does nothing in a signal handler that interrupted this function (Q7). */
void profilequeue_wake (Profile *p);

/* Fills the totals of the profile. Lock held. */
void profilequeue_totals (const Profile *p, ProfileTotals *t);

#endif
