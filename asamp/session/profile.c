/* SPDX-License-Identifier: MIT */
/*
** The profile: a queue of events between the program's threads and the
** writer's thread.
**
** Owns the queue and the thread; what the bytes mean is the encoder's, the file
** is livefile's. Invariants (the rules P1 to P6 are in profile.h):
**   Q1  'queue', 'active', 'error', 'stop', 'taken' and 'lost' are touched under 'lock'
**       only; the buffer that is not active belongs to the writer;
**   Q2  the writer never holds the lock while it encodes, writes or resolves;
**   Q3  a thread waits for room only while the writer works: not after an
**       error, not after the end, not in the child of a fork;
**   Q4  taken = samples in the file + samples on their way + lost;
**   Q5  an event counts from its commit on: exit() in a signal handler may have interrupted
**       this OS thread while it told one, with the lock, and it never goes on. 'telling',
**       of each OS thread, says so.
*/
#define _GNU_SOURCE
#include "profile.h"
#include "clock.h"
#include "encoder.h"
#include "event.h"
#include "framename.h"
#include "livefile.h"
#include "place.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define QUEUE_BYTES	(2u << 20)    /* of one of the two buffers */
#define WAKE_BYTES	(256u << 10)  /* the writer looks when there are so many, so
                                         that they pass through the caches */
#define FLUSH_NS	700000000     /* and flushes when this is over */
#define SOON_NS		1000000       /* and looks after so long, later twice that, where
                                         'round' had nothing to do: to FLUSH_NS */
#define FATES_CHUNK	65536         /* fates of one event */
#define HOLDERS_CHUNK	2047          /* numbers of one event, odd */
#define DEATHS_CHUNK	65536         /* runs of one event, even */
#define RESERVE_BYTES		(4u << 20)    /* kept for writing a flight recorder when memory
                                         has run out; its pages are not touched */

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
  pthread_t thread;
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
  EventTally unflushed;        /* encoded since the last flush */
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
  int whole;              /* the file has its end; atomic */
  int done;               /* ... and is closed; atomic */
  Wish *wish;             /* under the lock; NULL: none */
  pthread_cond_t answered;
  /* a flight recorder; NULL: it has a file from the start */
  Ring *ring;
  ProfileConfig config;   /* its strings are its own */
  void *reserve;          /* RESERVE_BYTES bytes of address space; NULL: none */
};

#define OFTHREAD	__thread __attribute__((tls_model("initial-exec")))

/* The profile whose lock this OS thread has, or waits for, to tell an event. */
static OFTHREAD const Profile *volatile telling;

/* The number that the system has given this OS thread; 0: it was not asked for yet. Kept,
   for every event has it, and a system call takes as long as half a sample. */
static OFTHREAD uint32_t ofthread;

/* The thread that has forked has another number in the child. */
static void forked (void) {
  ofthread = 0;
}

static void once (void) {
  pthread_atfork(NULL, NULL, forked);
}

static uint32_t threadnumber (void) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  if (ofthread == 0) {
    pthread_once(&control, once);
    ofthread = (uint32_t)gettid();
  }
  return ofthread;
}

/* -------------------------------------------------------------- writer -- */

static uint64_t lostsofar (const Profile *p) {
  return p->lost.samples + p->lost.timesamples + p->elsewhere;
}

/* Notes for the program's threads whether the file takes more; tells 'stalled' of the first
   time that it does not, and that it goes on. */
static void notestall (Profile *p) {
  const LiveFile *f = &p->file;
  int before;
  uint64_t lost;
  pthread_mutex_lock(&p->lock);
  before = p->stalled;
  __atomic_store_n(&p->stalled, f->stalled, __ATOMIC_RELAXED);
  lost = lostsofar(p) + __atomic_load_n(&p->refused, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&p->lock);
  if (before == 0 && f->stalled != 0)
    p->gap = lost;
  if (f->stalled != 0 && p->told == 0 && p->tellstall != NULL) {
    p->told = 1;
    p->tellstall(p->place.path, f->stalled, 0);
  }
  if (before != 0 && f->stalled == 0 && f->error == 0) {
    char value[160];
    snprintf(value, sizeof(value), "%llu: %s", (unsigned long long)(lost - p->gap),
             strerror(before));
    encoder_mark(p->encoder, clock_now(), "samples lost", 12, value,
                 strlen(value));
    p->dirty = 1;
    if (p->told == 1) {
      p->told = 2;
      p->tellstall(p->place.path, 0, lost - p->gap);
    }
  }
}

/* The first failure stays; whoever waits for room goes on. */
static void noteerror (Profile *p) {
  notestall(p);
  if (p->file.error == 0 || p->error != 0)
    return;
  pthread_mutex_lock(&p->lock);
  p->error = p->file.error;
  event_add(&p->lost, &p->unflushed);
  memset(&p->unflushed, 0, sizeof(p->unflushed));
  pthread_cond_broadcast(&p->room);
  pthread_mutex_unlock(&p->lock);
}

/* The encoder's sink. */
static void sink (void *ud, Bytes *out, int text) {
  Profile *p = ud;
  livefile_text(&p->file, text);
  livefile_put(&p->file, out->data, out->n);
  out->n = 0;
  if (encoder_failed(p->encoder))
    livefile_fail(&p->file, ENOMEM);
  noteerror(p);
}

/* All that was encoded so far can be read from the file after this. */
static void flush (Profile *p, int last) {
  if (encoder_failed(p->encoder))
    livefile_fail(&p->file, ENOMEM);
  livefile_flush(&p->file, last);
  p->dirty = 0;
  noteerror(p);
  if (p->file.stalled == 0) {
    event_add(&p->written, &p->unflushed);
    memset(&p->unflushed, 0, sizeof(p->unflushed));
  }
}

/* Encodes a whole buffer; after a failure it only counts what is lost. */
static void drain (Profile *p, const Queue *q) {
  size_t at = 0;
  EventTally lost = {0, 0};
  while (at < q->used) {
    const Event *event = (const Event *)(q->data + at);
    if (p->file.error == 0) {
      event_count(event, &p->unflushed);
      event_encode(event, p->encoder);
      if (encoder_full(p->encoder))
        encoder_batch(p->encoder);
    }
    else
      event_count(event, &lost);
    at += event->size;
  }
  if (q->used > 0)
    p->dirty = 1;
  pthread_mutex_lock(&p->lock);
  event_add(&p->lost, &lost);
  pthread_mutex_unlock(&p->lock);
}

/* Waits (lock held) until there is much to do, a flush is due, or the end. */
static void await (Profile *p) {
  struct timespec until;
  uint64_t t = p->flushed + FLUSH_NS;
  if (p->round != NULL && p->pause < FLUSH_NS) {
    uint64_t soon = clock_now() + p->pause;
    if (soon < t)
      t = soon;
  }
  until.tv_sec = (time_t)(t / 1000000000u);
  until.tv_nsec = (long)(t % 1000000000u);
  while (!p->stop && p->wish == NULL && p->queue[p->active].used < WAKE_BYTES) {
    if (pthread_cond_timedwait(&p->work, &p->lock, &until) == ETIMEDOUT)
      break;
  }
}

/* The buffer that was active, which the writer has from here on. */
static Queue *swap (Profile *p, int *stop, Wish **wish) {
  Queue *q;
  pthread_mutex_lock(&p->lock);
  await(p);
  *stop = p->stop;
  *wish = p->wish;
  q = &p->queue[p->active];
  p->active = !p->active;
  pthread_cond_broadcast(&p->room);
  pthread_mutex_unlock(&p->lock);
  return q;
}

/* Calls 'round': soon again if it found work, else less and less often. */
static void turn (Profile *p) {
  if (p->round == NULL)
    return;
  if (p->round())
    p->pause = SOON_NS;
  else if (p->pause < FLUSH_NS)
    p->pause *= 2;
}

/* What was asked for is done, and the file is 'path'. */
static void answer (Profile *p, const char *path, int error) {
  pthread_mutex_lock(&p->lock);
  if (p->wish != NULL) {
    if (error == 0)
      snprintf(p->wish->path, p->wish->pathsize, "%s", path);
    p->wish->error = error;
    p->wish->isdone = 1;
    p->wish = NULL;
    pthread_cond_broadcast(&p->answered);
  }
  pthread_mutex_unlock(&p->lock);
}

static void *writer (void *ud) {
  Profile *p = ud;
  Wish *wish;
  int stop;
  encoder_batch(p->encoder);  /* the head of the log */
  flush(p, 0);
  p->flushed = clock_now();
  do {
    Queue *q = swap(p, &stop, &wish);
    drain(p, q);
    q->used = 0;
    turn(p);
    if (wish != NULL || clock_now() - p->flushed >= FLUSH_NS) {
      if (p->dirty && p->file.error == 0)
        encoder_batch(p->encoder);
      if (p->dirty || p->file.stalled != 0)
        flush(p, 0);
      p->flushed = clock_now();
    }
    if (wish != NULL)
      answer(p, p->place.path, p->file.error != 0 ? p->file.error : p->file.stalled);
  } while (!stop);
  if (p->file.stalled != 0)
    flush(p, 0);  /* the mark that it went on stands before the end */
  if (p->file.error == 0) {
    pthread_mutex_lock(&p->lock);
    encoder_lost(p->encoder, lostsofar(p));
    pthread_mutex_unlock(&p->lock);
    encoder_finish(p->encoder, clock_now());
    flush(p, 1);
  }
  if (p->file.stalled != 0) {
    livefile_fail(&p->file, p->file.stalled);
    noteerror(p);
  }
  __atomic_store_n(&p->whole, 1, __ATOMIC_RELEASE);
  livefile_close(&p->file);
  encoder_free(p->encoder);
  __atomic_store_n(&p->done, 1, __ATOMIC_RELEASE);
  answer(p, p->place.path, p->file.error);  /* of who came too late to be seen */
  return NULL;
}

/* ----------------------------------------------------- flight recorder -- */

static void keep (void **reserve) {
  void *at = *reserve != NULL ? *reserve
           : mmap(NULL, RESERVE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *reserve = at == MAP_FAILED ? NULL : at;
}

static void spend (void **reserve) {
  if (*reserve != NULL)
    munmap(*reserve, RESERVE_BYTES);
  *reserve = NULL;
}

/* The encoder's sink. */
static void putring (void *ud, Bytes *out, int text) {
  Profile *p = ud;
  livefile_text(&p->file, text);
  livefile_put(&p->file, out->data, out->n);
  out->n = 0;
}

/* A new file for what is kept; 'to' as that of profile_dump. An errno, or 0. */
static int openring (Profile *p, const char *to, char *why, size_t size) {
  const ProfileConfig *c = &p->config;
  const PlaceWish own = {to, 1, 0, PLACE_NONE, NULL, 0, 0};
  const PlaceWish wish = {c->path, c->number, c->made, c->replace, NULL, 0, c->folder};
  int error;
  free(p->place.path);
  memset(&p->place, 0, sizeof(p->place));
  error = place_open(to != NULL ? &own : &wish, &p->place, why, size);
  if (error != 0)
    return error;
  if (to == NULL) {
    p->config.number = c->number > 1 ? c->number + 1 : 2;
    p->config.made = 1;
  }
  /* FAST: it may be asked for again and again, of a process that has work to do. */
  return livefile_open(&p->file, p->place.fd, c->compress ? LIVEFILE_FAST : LIVEFILE_PLAIN);
}

/* The ring, into the file that is open. */
static int putall (Profile *p, uint64_t lost) {
  uint64_t now = clock_now(), since = ring_since(p->ring, now);
  uint64_t epoch = (clock_read(CLOCK_REALTIME) - (now - since)) / 1000;
  ProfileLeft left = {0};
  RingTold told;
  Encoder *e = encoder_new(&p->config.log, since, epoch, putring, p);
  if (e == NULL)
    return ENOMEM;
  ring_tell(p->ring, e, now, &told);
  encoder_ring(e, told.samples, told.bytes, told.ns, p->config.ring.ns);
  left.before = ring_left(p->ring);
  encoder_left(e, &left, __atomic_load_n(&p->cut, __ATOMIC_RELAXED));
  encoder_lost(e, lost);
  encoder_finish(e, now);
  if (encoder_failed(e) || ring_failed(p->ring))
    livefile_fail(&p->file, ENOMEM);
  encoder_free(e);
  livefile_flush(&p->file, 1);
  return p->file.error;
}

/* Writes what is kept to a file of its own. */
static int dumpring (Profile *p, const char *to, int isshort, char *why, size_t size) {
  uint64_t lost;
  int error;
  pthread_mutex_lock(&p->lock);
  lost = lostsofar(p);
  pthread_mutex_unlock(&p->lock);
  if (isshort)
    spend(&p->reserve);
  error = openring(p, to, why, size);
  if (error == 0) {
    error = putall(p, lost);
    livefile_close(&p->file);
    if (error == 0)
      error = p->file.error;
  }
  keep(&p->reserve);
  return error;
}

static void *recorder (void *ud) {
  Profile *p = ud;
  char why[256];
  Wish *wish;
  int stop, error;
  do {
    Queue *q = swap(p, &stop, &wish);
    uint64_t now = clock_now();
    size_t at = 0;
    while (at < q->used) {
      const Event *event = (const Event *)(q->data + at);
      ring_put(p->ring, event, now);
      at += event->size;
    }
    q->used = 0;
    p->flushed = now;
    turn(p);
    if (wish != NULL) {
      error = dumpring(p, wish->to, wish->isshort, wish->why, sizeof(wish->why));
      answer(p, p->place.path, error);
    }
  } while (!stop);
  error = dumpring(p, NULL, 1, why, sizeof(why));
  p->file.error = error;
  if (error != 0) {
    pthread_mutex_lock(&p->lock);
    p->error = error;
    p->lost = p->taken;
    pthread_mutex_unlock(&p->lock);
  }
  __atomic_store_n(&p->whole, 1, __ATOMIC_RELEASE);
  __atomic_store_n(&p->done, 1, __ATOMIC_RELEASE);
  answer(p, p->place.path, error);
  return NULL;
}

/* --------------------------------------------------------- open, close -- */

/* What a flight recorder has besides. */
static void endring (Profile *p) {
  ring_free(p->ring);
  if (p->config.path != NULL) {
    free((char *)p->config.path);
    free((char *)p->config.log.command);
  }
}

/* Frees all but the encoder, closes the file. */
static void release (Profile *p) {
  livefile_abandon(&p->file);
  spend(&p->reserve);
  free(p->place.path);
  free(p->queue[0].data);
  free(p->queue[1].data);
  free(p);
}

/* The writer's thread must not run the program's signal handlers. */
static int startthread (Profile *p) {
  sigset_t all, before;
  int error;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  error = pthread_create(&p->thread, NULL, p->ring != NULL ? recorder : writer, p);
  if (error == 0)
    pthread_getcpuclockid(p->thread, &p->clock);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

/* The file of a profile; an errno, or 0. 'why' as that of place_open. */
static int openfile (Profile *p, const ProfileConfig *config, char *why,
                     size_t size) {
  const PlaceWish wish = {config->path, config->number, config->made,
                          config->replace, config->taken, 0, config->folder};
  int error = place_open(&wish, &p->place, why, size);
  return error != 0 ? error
       : livefile_open(&p->file, p->place.fd,
                       config->compress ? LIVEFILE_LIVE : LIVEFILE_PLAIN);
}

/* Descriptors that must be free beside the file: for the program, and for libraries, which
   would fail without a word, or with one that explains nothing. */
enum { SPARE_DESCRIPTORS = 6 };

/* Are there so many descriptors besides 'fd'? */
static int hasdescriptors (int fd) {
  int more[SPARE_DESCRIPTORS], n = 0, all;
  while (n < SPARE_DESCRIPTORS && (more[n] = fcntl(fd, F_DUPFD_CLOEXEC, 3)) >= 0)
    n++;
  all = (n == SPARE_DESCRIPTORS);
  while (n > 0)
    close(more[--n]);
  return all;
}

/* What a limit is, in its unit, as ulimit prints it. */
static const char *limited (int which, rlim_t unit, char *text, size_t size) {
  struct rlimit r;
  if (getrlimit(which, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
    return "unlimited";
  snprintf(text, size, "%llu", (unsigned long long)(r.rlim_cur / unit));
  return text;
}

/* The phrase for an errno. Where a limit of the process causes it, tells which and how high. */
static void reason (int error, char *why, size_t size) {
  char a[32], b[32];
  if (error == EMFILE)
    snprintf(why, size, "fewer than %d file descriptors would be left; raise their number "
             "(ulimit -n, now %s)", SPARE_DESCRIPTORS, limited(RLIMIT_NOFILE, 1, a, sizeof(a)));
  else if (error == ENOMEM && limited(RLIMIT_AS, 1024, a, sizeof(a)) == a)
    snprintf(why, size, "not enough memory; raise its limit (ulimit -v, now %s)", a);
  else if (error == EAGAIN)
    snprintf(why, size, "no thread can be made to write it, for lack of memory (ulimit "
             "-v, now %s) or of processes (ulimit -u, now %s); raise the limit",
             limited(RLIMIT_AS, 1024, a, sizeof(a)),
             limited(RLIMIT_NPROC, 1, b, sizeof(b)));
}

/* Why no file could be written at that path. */
static void explain (int error, const char *path, char *why, size_t size, char *err,
                     size_t errsize) {
  if (why[0] == '\0')
    reason(error, why, size);
  snprintf(err, errsize, "cannot write profile '%s': %s", path, why[0] != '\0' ? why :
           error == ENXIO ? "nobody reads this pipe" : strerror(error));
}

static int beginfile (Profile *p, const ProfileConfig *config, const EncoderConfig *own,
                      char *why, size_t size) {
  int error = openfile(p, config, why, size);
  if (error != 0)
    return error;
  if (!hasdescriptors(p->file.fd))
    return EMFILE;
  p->encoder = encoder_new(own, clock_now(), clock_read(CLOCK_REALTIME) / 1000, sink, p);
  return p->encoder != NULL ? 0 : ENOMEM;
}

/* A flight recorder's files come later. */
static int beginring (Profile *p, const ProfileConfig *config, const EncoderConfig *own) {
  const char *command = own->command;
  p->config = *config;
  p->config.log = *own;
  p->config.path = strdup(config->path);
  p->config.log.command = command != NULL ? strdup(command) : NULL;
  p->ring = ring_new(&config->ring, &p->config.log, clock_now());
  keep(&p->reserve);
  return p->ring != NULL && p->config.path != NULL &&
         (command == NULL || p->config.log.command != NULL) ? 0 : ENOMEM;
}

/* Memory, file and thread; an errno, or 0. */
static int begin (Profile *p, const ProfileConfig *config, char *why,
                  size_t size) {
  EncoderConfig own = config->log;
  pthread_condattr_t clock;
  int i, error;
  for (i = 0; i < 2; i++) {
    p->queue[i].data = malloc(QUEUE_BYTES);
    if (p->queue[i].data == NULL)
      return ENOMEM;
  }
  own.pid = (uint64_t)p->pid;
  p->tellstall = config->stalled;
  p->round = config->round;
  p->pause = SOON_NS;
  error = config->ring.most > 0 ? beginring(p, config, &own) : beginfile(p, config, &own, why, size);
  if (error != 0)
    return error;
  pthread_mutex_init(&p->lock, NULL);
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&p->work, &clock);
  pthread_condattr_destroy(&clock);
  pthread_cond_init(&p->room, NULL);
  pthread_cond_init(&p->answered, NULL);
  return startthread(p);
}

Profile *profile_open (const ProfileConfig *config, char *err,
                       size_t errsize) {
  Profile *p = calloc(1, sizeof(*p));
  char why[256] = "";
  int error = ENOMEM;
  if (p != NULL) {
    p->file.fd = -1;
    p->pid = getpid();
    error = begin(p, config, why, sizeof(why));
    if (error == 0)
      return p;
    if (p->encoder != NULL)
      encoder_free(p->encoder);
    endring(p);
    place_undo(&p->place);
    release(p);
  }
  explain(error, config->path, why, sizeof(why), err, errsize);
  errno = error;
  return NULL;
}

const char *profile_path (const Profile *p) {
  int isthere = p->ring == NULL || __atomic_load_n(&p->done, __ATOMIC_ACQUIRE);
  return isthere && p->place.path != NULL ? p->place.path : p->config.path;
}

unsigned profile_number (const Profile *p) {
  return __atomic_load_n(&p->config.number, __ATOMIC_RELAXED);
}

int profile_isring (const Profile *p) {
  return p->ring != NULL;
}

const char *profile_elsewhere (const Profile *p) {
  return p->place.busy ? "is being written"
       : p->place.kept ? "is a profile already" : NULL;
}

void profile_file (const Profile *p, struct stat *file) {
  memset(file, 0, sizeof(*file));
  file->st_dev = p->file.device;
  file->st_ino = p->file.inode;
}

static void totals (const Profile *p, ProfileTotals *t) {
  t->samples = p->taken.samples - p->lost.samples;
  t->timesamples = p->taken.timesamples - p->lost.timesamples;
  t->lost = p->lost.samples + p->lost.timesamples;
  t->bytes = p->ring != NULL && !p->done ? ring_bytes(p->ring)
           : __atomic_load_n(&p->file.written, __ATOMIC_RELAXED);
  t->error = p->error != 0 ? p->error : p->stalled;
}

int profile_room (Profile *p) {
  return __atomic_load_n(&p->stalled, __ATOMIC_RELAXED) == 0;
}

int profile_offer (Profile *p, uint64_t count) {
  if (profile_room(p))
    return 1;
  __atomic_add_fetch(&p->refused, count, __ATOMIC_RELAXED);
  return 0;
}

int profile_ready (Profile *p) {
  int ready;
  if (telling != NULL)
    return 0;
  pthread_mutex_lock(&p->lock);
  ready = p->error == 0 && p->stalled == 0 && !p->stop &&
          p->queue[p->active].used < QUEUE_BYTES / 2;
  pthread_mutex_unlock(&p->lock);
  return ready;
}

void profile_lost (Profile *p, uint64_t n) {
  pthread_mutex_lock(&p->lock);
  p->elsewhere += n;
  pthread_mutex_unlock(&p->lock);
}

void profile_totals (Profile *p, ProfileTotals *t) {
  pthread_mutex_lock(&p->lock);
  totals(p, t);
  pthread_mutex_unlock(&p->lock);
}

const char *profile_message (int error) {
  return error == EBADF ? "the program has closed its descriptor"
       : error == EDEADLK ? "exit() was called in a signal handler, which has "
                            "interrupted what the writer waits for"
       : strerror(error);
}

int profile_dump (Profile *p, const char *to, int isshort, char *path, size_t pathsize,
                  char *err, size_t errsize) {
  Wish wish = {to, isshort, 0, 0, path, "", pathsize};
  int istaken = 0;
  if (p->pid == getpid() && !p->ended) {
    pthread_mutex_lock(&p->lock);
    while (p->wish != NULL && !p->stop)
      pthread_cond_wait(&p->answered, &p->lock);
    istaken = !p->stop;
    if (istaken) {
      p->wish = &wish;
      pthread_cond_signal(&p->work);
      while (!wish.isdone)
        pthread_cond_wait(&p->answered, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
  }
  if (!istaken)
    snprintf(err, errsize, "the profile has ended");
  else if (wish.error != 0)
    explain(wish.error, to != NULL ? to : profile_path(p), wish.why, sizeof(wish.why), err,
            errsize);
  return istaken && wish.error == 0;
}

/* The writer writes what is left and goes; then the file is closed. */
static void end (Profile *p) {
  pthread_mutex_lock(&p->lock);
  p->stop = 1;
  pthread_cond_signal(&p->work);
  pthread_mutex_unlock(&p->lock);
  pthread_join(p->thread, NULL);
  pthread_mutex_lock(&p->lock);
  if (p->file.error != p->error)  /* nothing of the file remains */
    p->lost = p->taken;
  p->error = p->file.error;
  pthread_mutex_unlock(&p->lock);
}

/* A lock that the fork has caught is nobody's in the child, and never free. */
int profile_end (Profile *p, ProfileTotals *t) {
  int ok, ismine = p->pid == getpid();
  if (ismine) {
    if (!p->ended)
      end(p);
    p->ended = 1;
    pthread_mutex_lock(&p->lock);
  }
  else
    p->lost = p->taken;
  if (t != NULL)
    totals(p, t);
  ok = p->lost.samples + p->lost.timesamples == 0 && p->error == 0;
  if (ismine)
    pthread_mutex_unlock(&p->lock);
  return ok ? 0 : -1;
}

int profile_close (Profile *p, ProfileTotals *t) {
  int result = profile_end(p, t);
  if (p->pid == getpid()) {
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->room);
    pthread_cond_destroy(&p->answered);
    pthread_mutex_destroy(&p->lock);
    endring(p);
  }
  release(p);
  return result;
}

/*
** The fork may have caught the writer between freeing one of the encoder's
** buffers and noting where the new one is: the child leaves them alone.
*/
void profile_abandon (Profile *p) {
  release(p);
}

/* -------------------------------------------------------------- events -- */

/* The event that is being told is whole (Q5). */
static void commit (Profile *p) {
  p->queue[p->active].used += p->reserved;
  p->reserved = 0;
}

/* Whoever tells events has the lock between these. */
static void hold (Profile *p) {
  telling = p;
  pthread_mutex_lock(&p->lock);
}

static inline void letgo (Profile *p) {
  commit(p);
  memset(&p->inhand, 0, sizeof(p->inhand));
  pthread_mutex_unlock(&p->lock);
  telling = NULL;
}

/* Has the active buffer room for 'size' bytes? */
static inline int hasroom (const Profile *p, size_t size) {
  return QUEUE_BYTES - p->queue[p->active].used >= size;
}

/* Waits until it has (Q3); 0: it never will. Apart, for whoever finds room at once. */
static __attribute__((noinline)) int waitforroom (Profile *p, size_t size) {
  while (!hasroom(p, size)) {
    EventTally inhand = p->inhand;
    if (p->pid != getpid())
      return 0;
    pthread_cond_signal(&p->work);
    pthread_cond_wait(&p->room, &p->lock);
    p->inhand = inhand;  /* another thread may have told something */
    if (p->error != 0 || p->stop)
      return 0;
  }
  return 1;
}

/*
** Room for an event with a body of 'n' bytes in the active buffer (lock
** held); NULL when there will be none. May wait for the writer (Q3).
*/
static inline void *reserve (const ProfileState *s, int type, uint64_t number, size_t n) {
  Profile *p = s->profile;
  size_t size = sizeof(Event) + ((n + 7) & ~(size_t)7);
  Queue *q;
  Event *event;
  if (p->reserved > 0)
    commit(p);  /* the one before */
  if (p->error != 0 || p->stop || (!hasroom(p, size) && !waitforroom(p, size)))
    return NULL;
  q = &p->queue[p->active];
  event = (Event *)(q->data + q->used);
  event->type = (uint32_t)type;
  event->size = (uint32_t)size;
  event->n = number;
  event->state = s->id;
  event->thread = s->outside ? 0 : threadnumber();
  if (q->used < WAKE_BYTES && q->used + size >= WAKE_BYTES)
    pthread_cond_signal(&p->work);
  p->reserved = size;
  return event + 1;
}

/* An event of a number and n bytes. */
static void tell (const ProfileState *s, int type, uint64_t number, const void *bytes,
                  size_t n) {
  void *body;
  hold(s->profile);
  body = reserve(s, type, number, n);
  if (body != NULL && n > 0)
    memcpy(body, bytes, n);
  letgo(s->profile);
}

void profile_begin (ProfileState *s) {
  tell(s, EVENT_BEGIN, clock_now(), NULL, 0);
}

void profile_leave (ProfileState *s, uint64_t bytes, const ProfileLeft *left,
                    uint64_t lost) {
  uint64_t now = clock_now();
  profile_left(s, left);
  profile_lost(s->profile, lost);
  tell(s, EVENT_END, bytes, &now, sizeof(now));
}

void profile_function (ProfileState *s, uint64_t id, const char *name,
                       int linedefined, const char *source) {
  char text[FRAMENAME_LIMIT + 1];
  framename_lua(text, name, linedefined, source);
  tell(s, EVENT_NAME, id, text, strlen(text) + 1);
}

void profile_period (ProfileState *s, uint64_t period) {
  tell(s, EVENT_PERIOD, period, NULL, 0);
}

void profile_timeperiod (ProfileState *s, uint64_t ns, int wall) {
  tell(s, wall ? EVENT_WALLPERIOD : EVENT_CPUPERIOD, ns, NULL, 0);
}

void profile_allocated (ProfileState *s, uint64_t bytes) {
  tell(s, EVENT_ALLOCATED, bytes, NULL, 0);
}

void profile_left (ProfileState *s, const ProfileLeft *left) {
  tell(s, EVENT_LEFT, __atomic_load_n(&s->profile->cut, __ATOMIC_RELAXED), left,
       sizeof(*left));
}

/* What is told of a text of n bytes: all, or what ends before a character. */
static size_t cut (Profile *p, const char *text, size_t n, size_t limit) {
  size_t i;
  if (n <= limit)
    return n;
  __atomic_add_fetch(&p->cut, 1, __ATOMIC_RELAXED);
  for (i = 0; i < 3 && ((unsigned char)text[limit] & 0xc0) == 0x80; i++)
    limit--;
  return limit;
}

static void telltext (const ProfileState *s, int type, uint64_t number, const char *name) {
  char text[PROFILE_NAME + 1];
  size_t n = cut(s->profile, name, strlen(name), PROFILE_NAME);
  memcpy(text, name, n);
  text[n] = '\0';
  tell(s, type, number, text, n + 1);
}

void profile_called (ProfileState *s, const char *name) {
  telltext(s, EVENT_CALLED, 0, name);
}

void profile_class (ProfileState *s, uint32_t id, const char *name) {
  telltext(s, EVENT_CLASS, id, name);
}

void profile_holderpath (ProfileState *s, uint32_t id, uint32_t parent, const char *step) {
  size_t n = strlen(step) + 1;
  char *body;
  hold(s->profile);
  body = reserve(s, EVENT_PATH, id, sizeof(parent) + n);
  if (body != NULL) {
    memcpy(body, &parent, sizeof(parent));
    memcpy(body + sizeof(parent), step, n);
  }
  letgo(s->profile);
}

void profile_walk (ProfileState *s, uint64_t began, uint64_t duration) {
  Profile *p = s->profile;
  uint64_t *body;
  hold(p);
  body = reserve(s, EVENT_WALK, duration, sizeof(*body));
  if (body != NULL)
    *body = began;
  letgo(p);
}

void profile_holders (ProfileState *s, const uint32_t *ids, size_t n) {
  Profile *p = s->profile;
  uint32_t runs[HOLDERS_CHUNK];
  size_t at = 0;
  hold(p);
  while (at < n) {
    size_t m = 1;
    uint32_t *body;
    runs[0] = at == 0;
    while (at < n && m + 2 <= HOLDERS_CHUNK) {
      size_t from = at;
      while (at < n && ids[at] == ids[from])
        at++;
      runs[m++] = (uint32_t)(at - from);
      runs[m++] = ids[from];
    }
    body = reserve(s, EVENT_HOLDERS, m, m * sizeof(*body));
    if (body == NULL)
      break;  /* what comes behind would be told of others */
    memcpy(body, runs, m * sizeof(*body));
  }
  letgo(p);
}

void profile_mark (ProfileState *s, uint64_t time, const char *name,
                   size_t namelen, const char *value, size_t valuelen) {
  Profile *p = s->profile;
  MarkEvent *body;
  namelen = cut(p, name, namelen, PROFILE_NAME);
  valuelen = cut(p, value, valuelen, PROFILE_VALUE);
  hold(p);
  body = reserve(s, EVENT_MARK, 0, sizeof(*body) + namelen + valuelen);
  if (body != NULL) {
    body->time = time;
    body->namelength = namelen;
    body->valuelength = valuelen;
    if (namelen > 0)
      memcpy(body->text, name, namelen);
    if (valuelen > 0)
      memcpy(body->text + namelen, value, valuelen);
  }
  letgo(p);
}

void profile_resident (ProfileState *s, uint64_t time, const char *what, int64_t bytes,
                       const char *text) {
  Profile *p = s->profile;
  size_t n = strlen(what), m = strlen(text);
  ResidentEvent *body;
  hold(p);
  body = reserve(s, EVENT_RESIDENT, (uint64_t)bytes, sizeof(*body) + n + m + 2);
  if (body != NULL) {
    body->time = time;
    memcpy(body->text, what, n + 1);
    memcpy(body->text + n + 1, text, m + 1);
  }
  letgo(p);
}

/* The event that is being told finds no room: its samples are lost. */
static void lose (Profile *p) {
  event_add(&p->lost, &p->inhand);
  memset(&p->inhand, 0, sizeof(p->inhand));
}

/* Notes the depth of the stack that is told. */
static void setdepth (ProfileState *s, size_t shared, size_t n) {
  assert(shared <= s->depth && n <= PROFILE_NEWFRAMES);
  s->depth = shared + n;
}

/* Mostly one frame, which costs less to copy than a call of memcpy does. 'frames' may be NULL
   when n is 0. */
static inline void copyframes (ProfileFrame *to, const ProfileFrame *frames, size_t n) {
  if (n == 1)
    *to = *frames;
  else if (n > 0)
    memcpy(to, frames, n * sizeof(*frames));
}

void profile_sample (ProfileState *s, const ProfileSample *in, size_t shared,
                     const ProfileFrame *frames, size_t n) {
  Profile *p = s->profile;
  SampleEvent *body;
  int copy = profile_iscopy(in->kind);
  assert(in->count >= 1 && in->kind >= 0 && (in->kind < KIND_COUNT || copy));
  hold(p);
  setdepth(s, shared, n);
  if (!copy) p->taken.samples += in->count;
  p->inhand.samples = in->count;
  body = reserve(s, EVENT_SAMPLE, n, sizeof(*body) + n * sizeof(*frames));
  if (body != NULL) {
    body->sample = *in;
    body->shared = shared;
    copyframes(body->frames, frames, n);
  }
  else
    lose(p);
  letgo(p);
}

void profile_time (ProfileState *s, const ProfileTime *in, size_t shared,
                   const ProfileFrame *frames, size_t n) {
  Profile *p = s->profile;
  TimeEvent *body;
  assert(in->count >= 1);
  hold(p);
  setdepth(s, shared, n);
  p->taken.timesamples += in->count;
  if (p->stalled)
    p->lost.timesamples += in->count;
  else
    p->inhand.timesamples = in->count;
  body = reserve(s, p->stalled ? EVENT_STACK : EVENT_TIME, n,
                 sizeof(*body) + n * sizeof(*frames));
  if (body != NULL) {
    body->sample = *in;
    body->shared = shared;
    copyframes(body->frames, frames, n);
  }
  else
    lose(p);
  letgo(p);
}

/* n <= FATES_CHUNK fates (lock held). */
static void tellfates (const ProfileState *s, const unsigned char *survived,
                       const uint32_t *classes, size_t n) {
  size_t ahead = classes == NULL ? 0 : n * sizeof(*classes);
  unsigned char *body = reserve(s, classes == NULL ? EVENT_FATES
                                                   : EVENT_CLASSFATES,
                                n, ahead + n);
  if (body == NULL)
    return;
  if (classes != NULL)
    memcpy(body, classes, ahead);
  memcpy(body + ahead, survived, n);
}

void profile_collection (ProfileState *s, const ProfileCollection *c,
                         const unsigned char *survived,
                         const uint32_t *classes, size_t n,
                         const uint32_t *deaths, size_t ndeaths) {
  Profile *p = s->profile;
  ProfileCollection *body;
  size_t at = 0;
  hold(p);
  while (at < n) {
    size_t m = n - at < FATES_CHUNK ? n - at : FATES_CHUNK;
    tellfates(s, survived + at, classes == NULL ? NULL : classes + at, m);
    at += m;
  }
  for (at = 0; at < ndeaths; at += DEATHS_CHUNK) {
    size_t m = ndeaths - at < DEATHS_CHUNK ? ndeaths - at : DEATHS_CHUNK;
    void *runs = reserve(s, EVENT_DEATHS, m, m * sizeof(*deaths));
    if (runs != NULL)
      memcpy(runs, deaths + at, m * sizeof(*deaths));
  }
  body = reserve(s, EVENT_COLLECTION, 0, sizeof(*body));
  if (body != NULL)
    *body = *c;
  letgo(p);
}

/* ---------------------------------------------------------------- exit -- */

#define LOCK_MS		500     /* longer than anybody has the lock */
#define STUCK_MS	3000    /* without a nanosecond of CPU time: it waits for a lock */

static void nap (void) {
  const struct timespec t = {0, 1000000};
  nanosleep(&t, NULL);
}

/* 0: whoever has it does not give it back. */
static int trylock (Profile *p) {
  int i;
  for (i = 0; i < LOCK_MS; i++) {
    if (pthread_mutex_trylock(&p->lock) == 0)
      return 1;
    nap();
  }
  return 0;
}

/* Has the writer done something since *used, its CPU time? */
static int works (const Profile *p, uint64_t *used) {
  uint64_t before = *used;
  *used = clock_read(p->clock);
  return *used != before || __atomic_load_n(&p->file.waiting, __ATOMIC_RELAXED);
}

/* Until the writer has done what it does, or is stuck: then 0. */
static int awaitwriter (const Profile *p) {
  uint64_t used = 0;
  int idle = 0;
  while (!__atomic_load_n(&p->done, __ATOMIC_ACQUIRE)) {
    idle = works(p, &used) ? 0 : idle + 1;
    if (idle > STUCK_MS)
      return 0;
    nap();
  }
  return 1;
}

/* Room for the last events of a state (lock held). 0: there will be none, and the lock
   may be gone. */
static int awaitroom (Profile *p, int *locked) {
  size_t needed = 2 * sizeof(Event) + sizeof(ProfileLeft) + 8;
  uint64_t used = 0;
  int idle = 0;
  while (p->error == 0 && QUEUE_BYTES - p->queue[p->active].used < needed) {
    pthread_mutex_unlock(&p->lock);
    idle = works(p, &used) ? 0 : idle + 1;
    nap();
    *locked = idle <= STUCK_MS && trylock(p);
    if (!*locked)
      return 0;
  }
  return 1;
}

/* The last events, for which there may be no room yet. The lock is ours. */
static void telllast (Profile *p, int (*next) (void *ud, ProfileLast *last), void *ud) {
  ProfileLast last;
  int locked = 1;
  while (next(ud, &last) && awaitroom(p, &locked)) {
    void *body;
    p->elsewhere += last.lost;
    if (last.bytes > 0)
      reserve(last.state, EVENT_ALLOCATED, last.bytes, 0);
    body = reserve(last.state, EVENT_LEFT, __atomic_load_n(&p->cut, __ATOMIC_RELAXED),
                   sizeof(last.left));
    if (body != NULL)
      memcpy(body, &last.left, sizeof(last.left));
  }
  if (!locked) {
    p->stop = 1;
    return;
  }
  commit(p);
  p->stop = 1;
  pthread_mutex_unlock(&p->lock);
}

/*
** malloc is not used, for this thread may be in the middle of it; nor, where it tells an
** event, a condition: the writer finds 'stop' when it looks by itself.
*/
void profile_exit (Profile *p, int (*next) (void *ud, ProfileLast *last), void *ud,
                   ProfileTotals *t) {
  int ours = telling == p;
  if (p->pid != getpid() || p->ended) {
    totals(p, t);
    return;
  }
  if (trylock(p) || ours) {
    if (ours) {  /* the event is given up */
      p->reserved = 0;
      lose(p);
    }
    telllast(p, next, ud);
  }
  else p->stop = 1;
  if (!ours)
    pthread_cond_signal(&p->work);
  if (!awaitwriter(p) && !__atomic_load_n(&p->whole, __ATOMIC_ACQUIRE)) {
    p->error = EDEADLK;
    p->lost.samples = p->taken.samples - p->written.samples;
    p->lost.timesamples = p->taken.timesamples - p->written.timesamples;
  }
  else if (p->file.error != p->error) {
    p->lost = p->taken;
    p->error = p->file.error;
  }
  totals(p, t);
}
