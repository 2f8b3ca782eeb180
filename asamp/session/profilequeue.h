/* SPDX-License-Identifier: MIT */
/*
** Internals of a profile: a queue that passes events from the program's threads (profileevents.c)
** to the writer thread (profilewriter.c). encoder.h defines the meaning of the bytes, and
** livefile.h handles the file.
**
** Invariants (the rules P1 to P8 are in profile.h):
**   Q1  'queue', 'active', 'error', 'stop', 'taken' and 'lost' are accessed with 'lock' held.
**       Exceptions: profile_exit accesses them without the lock if it cannot take it, and the
**       writer, which alone sets 'error', reads 'error' without it. The inactive buffer belongs to
**       the writer;
**   Q2  the writer never holds the lock while it encodes, writes or resolves names;
**   Q3  a thread waits for space only while the writer works. It does not wait after an error,
**       after the end, or in the child of a fork;
**   Q4  no sample is uncounted: 'taken' = samples in the file + samples in the queue or with the
**       writer + 'lost';
**   Q5  an event counts from its commit on. exit() in a signal handler may have interrupted this
**       OS thread in the middle of an event, with the lock held; then that event is never
**       completed. While a thread reports an event, the thread-local variable 'emitting' is set;
**   Q6  if a signal ends the process, other threads may report events after the end of the
**       profile. These are not part of it and do not count as lost;
**   Q7  'work' is signalled only by profilequeue_wake, and never recursively. A recursive call
**       happens if a signal handler interrupts profilequeue_wake and calls exit().
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
** Storage class of thread-local variables that a signal handler may access: an access never
** allocates.
*/
#define OFTHREAD	__thread __attribute__((tls_model("initial-exec")))

#define QUEUE_BYTES	(2u << 20)    /* bytes of each of the two buffers */
#define WAKE_BYTES	(256u << 10)  /* fill level of a buffer, in bytes, at which the writer is
				         woken; small, so that the data are still in the CPU
				         caches */
#define SOON_NS		1000000       /* ns until the next call of 'round'; doubled up to FLUSH_NS
				         while 'round' has no work */

typedef struct Queue {
  unsigned char *data;  /* the events, in QUEUE_BYTES bytes */
  size_t used;
} Queue;

/* Request of profile_dump to the writer. It is on the stack of the thread that waits for it. */
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
  pthread_cond_t room;    /* wakes threads that wait for space; signalled when the active buffer is
			     empty and when the file has failed */
  Worker *worker;         /* thread that runs the writer */
  pid_t pid;              /* process that runs the writer's thread */
  Queue queue[2];
  int active;             /* index of the buffer that receives events */
  int stop;
  int ended;              /* 1: the profile has ended: there is no writer and no file any more */
  size_t reserved;        /* bytes reserved for the event being reported */
  EventTally inhand;      /* numbers of samples in the event being reported */
  int error;              /* errno of the first failure */
  int stalled;            /* errno of the file's present stall, or 0; also read without the lock */
  uint64_t elsewhere;     /* number of sampling periods lost before they reached the queue
			     (profile_lost) */
  uint64_t refused;       /* number of samples that profile_offer refused for lack of space, which
			     the caller also reports with profile_lost; atomic */
  EventTally taken;            /* numbers of samples passed to the queue, including those lost
				  there */
  EventTally lost;
  uint64_t cut;           /* number of truncated texts; atomic */
  /* the following fields belong to the writer */
  LiveFile file;
  Place place;
  EventTally unflushed;        /* numbers of samples encoded since the last flush */
  uint64_t sure;               /* size of the file in bytes at the last flush */
  uint64_t flushed;       /* time of the last complete flush, CLOCK_MONOTONIC, ns */
  int dirty;              /* 1: events arrived since the last flush */
  Encoder *encoder;
  int stallreported;               /* 1: the start of the first stall was reported to the user; 2:
				      its end, too */
  uint64_t gap;           /* number of samples that were already lost when the last stall started */
  void (*reportstall)(const char *path, int error, uint64_t lost);
  int (*round)(void);
  uint64_t pause;         /* ns until the next call of the function 'round' of ProfileConfig, if
			     there is one */
  EventTally written;     /* numbers of samples in that part of the file that can be read already */
  clockid_t clock;        /* clock of the CPU time of the writer's thread */
  char *tuning;           /* LUA_GC at the start of the profile, or NULL */
  int whole;              /* 1: the writer has written everything; atomic */
  int done;               /* 1: the writer has closed the file, too; atomic */
  Wish *wish;             /* request of profile_dump, changed with the lock held; NULL: none */
  pthread_cond_t answered;
  /* content of a flight recorder; NULL: not a flight recorder, or it has ended */
  Ring *ring;
  ProfileConfig config;   /* options of the profile, with copies of the strings; used by a flight
			     recorder only, for its later files */
  struct stat folder;     /* device and inode of config.folder, if that is above 0 */
  Spare spare;            /* memory reserved for the writer, for use when memory is exhausted */
};

/* Returns the number of all lost samples: those lost before they reached the queue, in the queue
   and in the writer. Lock held. */
static inline uint64_t profilequeue_lost (const Profile *p) {
  return p->lost.samples + p->lost.timesamples + p->elsewhere;
}

/* Wakes the writer. Does nothing if it is called in a signal handler that interrupted this
   function (Q7). */
void profilequeue_wake (Profile *p);

/* Fills the totals of the profile. Lock held. */
void profilequeue_totals (const Profile *p, ProfileTotals *t);

#endif
