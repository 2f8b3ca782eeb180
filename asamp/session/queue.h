/* SPDX-License-Identifier: MIT */
/*
** The inside of a profile: a queue of events between the program's threads (tell.c)
** and the writer's thread (writer.c). What the bytes mean is the encoder's, the file is
** livefile's.
**
** Invariants (the rules P1 to P8 are in profile.h):
**   Q1  'queue', 'active', 'error', 'stop', 'taken' and 'lost' are touched under 'lock'
**       only; the buffer that is not active belongs to the writer;
**   Q2  the writer never holds the lock while it encodes, writes or resolves;
**   Q3  a thread waits for room only while the writer works: not after an
**       error, not after the end, not in the child of a fork;
**   Q4  taken = samples in the file + samples on their way + lost;
**   Q5  an event counts from its commit on: exit() in a signal handler may have interrupted
**       this OS thread while it told one, with the lock, and it never goes on. 'telling',
**       of each OS thread, says so;
**   Q6  what other threads tell when the profile has ended, in a process that a signal ends,
**       is no part of it, and not lost;
**   Q7  'work' is signalled by queue_wake only, and never within itself: exit() in a signal
**       handler may have interrupted that, too.
*/
#ifndef asamp_queue_h
#define asamp_queue_h

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

/* A variable of each OS thread, which a signal handler may ask for: no call allocates it. */
#define OFTHREAD	__thread __attribute__((tls_model("initial-exec")))

#define QUEUE_BYTES	(2u << 20)    /* of one of the two buffers */
#define WAKE_BYTES	(256u << 10)  /* the writer looks when there are so many, so
                                         that they pass through the caches */
#define SOON_NS		1000000       /* and looks after so long, later twice that, where
                                         'round' had nothing to do: to FLUSH_NS */

typedef struct Queue {
  unsigned char *data;  /* QUEUE_BYTES of them */
  size_t used;
} Queue;

/* What profile_dump asks the writer for; on the stack of who waits for it. */
typedef struct Wish {
  const char *to;
  int isshort, isdone;
  int error;              /* the answer: an errno, or 0 */
  char *path, why[256];
  size_t pathsize;
} Wish;

struct Profile {
  pthread_mutex_t lock;
  pthread_cond_t work;    /* to the writer: look */
  pthread_cond_t room;    /* to the program: the active buffer is empty, or
                             never will be */
  Worker *worker;         /* that runs the writer */
  pid_t pid;              /* of the process that has the writer's thread */
  Queue queue[2];
  int active;             /* the buffer that takes events */
  int stop;
  int ended;              /* there is no writer, and no file any more */
  size_t reserved;        /* bytes of the event that is being told */
  EventTally inhand;      /* ... whose samples these are */
  int error;              /* errno of the first failure */
  int stalled;            /* errno of why the file takes no more, or 0; also read
                             without the lock */
  uint64_t elsewhere;     /* samples lost before they came here */
  uint64_t refused;       /* of those that will be told to be lost there, the ones for
                             which there was no room; atomic */
  EventTally taken;            /* handed over */
  EventTally lost;
  uint64_t cut;           /* texts that were; atomic */
  /* the writer's own */
  LiveFile file;
  Place place;
  EventTally unflushed;        /* encoded since the last flush, ... */
  uint64_t sure;               /* ... after which the file had so many bytes */
  uint64_t flushed;       /* when everything was flushed last, ns */
  int dirty;              /* something came since the last flush */
  Encoder *encoder;
  int told;               /* 1: the first stall was told; 2: its end, too */
  uint64_t gap;           /* samples lost before this stall */
  void (*tellstall)(const char *path, int error, uint64_t lost);
  int (*round)(void);
  uint64_t pause;         /* to the next round, ns; where there are rounds */
  EventTally written;     /* can be read from the file */
  clockid_t clock;        /* its CPU time */
  char *tuning;           /* LUA_GC as it was when the profile began, or NULL */
  int whole;              /* the file has its end; atomic */
  int done;               /* ... and is closed; atomic */
  Wish *wish;             /* under the lock; NULL: none */
  pthread_cond_t answered;
  /* a flight recorder; NULL: it has a file from the start, or has ended */
  Ring *ring;
  ProfileConfig config;   /* a flight recorder's; its strings are its own */
  struct stat folder;     /* the folder of config.folder, if that is above 0 */
  Spare spare;            /* for writing when memory has run out; the writer's */
};

/* What was lost on the way, and before (lock held). */
static inline uint64_t queue_lost (const Profile *p) {
  return p->lost.samples + p->lost.timesamples + p->elsewhere;
}

/* Has the writer look, or leaves it to look by itself (Q7). */
void queue_wake (Profile *p);

/* What there is to tell of the file (lock held). */
void queue_totals (const Profile *p, ProfileTotals *t);

#endif
