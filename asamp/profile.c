/* SPDX-License-Identifier: MIT */
/*
** The profile: a queue of events between the program's threads and the
** writer's thread, and the file that the writer fills.
**
** Owns the queue, the thread, compression and I/O; what the bytes mean is
** the encoder's. Invariants (the rules P1 to P4 are in profile.h):
**   Q1  'queue', 'active', 'error', 'stop', 'taken' and 'lost' are touched
**       under 'lock' only; the buffer that is not active belongs to the
**       writer;
**   Q2  the writer never holds the lock while it encodes, writes or resolves;
**   Q3  a thread waits for room only while the writer works: not after an
**       error, not in the child of a fork;
**   Q4  taken = samples in the file + samples on their way + lost.
*/
#define _GNU_SOURCE
#include "profile.h"
#include "encoder.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define QUEUE_BYTES	(2u << 20)    /* of one of the two buffers */
#define WAKE_NS		250000000     /* the writer looks this often */
#define FLUSH_NS	700000000     /* and flushes when this is over */
#define FATES_CHUNK	65536         /* fates of one event */
#define DEFLATED_BYTES	65536

enum EventType {
  EVENT_NAME, EVENT_SAMPLE, EVENT_FATES, EVENT_COLLECTION, EVENT_PERIOD
};

/* Head of an event in the queue; its body follows. */
typedef struct Event {
  uint32_t type;
  uint32_t size;      /* in bytes, head included, a multiple of 8 */
  uint64_t n;         /* a number that the type defines */
} Event;

typedef struct Queue {
  unsigned char *data;  /* QUEUE_BYTES of them */
  size_t used;
} Queue;

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
  int error;              /* errno of the first failure */
  uint64_t taken;         /* samples handed over, counts added up */
  uint64_t lost;
  uint64_t written;       /* bytes in the file */
  /* the writer's own */
  int fd;
  int compress;
  int failed;             /* 'error', as the writer sees it */
  uint64_t unflushed;     /* samples encoded since the last flush */
  uint64_t flushed;       /* time of the last flush, ns */
  int dirty;              /* something came since the last flush */
  Encoder *encoder;
  z_stream z;
  unsigned char deflated[DEFLATED_BYTES];
};

static uint64_t now_ns (clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---------------------------------------------------------------- file -- */

/* The first failure stays; whoever waits for room goes on. */
static void fail (Profile *p, int error) {
  p->failed = 1;
  pthread_mutex_lock(&p->lock);
  if (p->error == 0)
    p->error = error;
  p->lost += p->unflushed;
  p->unflushed = 0;
  pthread_cond_broadcast(&p->room);
  pthread_mutex_unlock(&p->lock);
}

/* Writes all n bytes, however little a single write takes. */
static void put (Profile *p, const unsigned char *data, size_t n) {
  uint64_t done = 0;
  while (n > 0 && !p->failed) {
    ssize_t w = write(p->fd, data, n);
    if (w > 0) {
      data += w;
      n -= (size_t)w;
      done += (uint64_t)w;
    }
    else if (w == 0)
      fail(p, ENOSPC);
    else if (errno == EAGAIN) {
      struct pollfd ready = {p->fd, POLLOUT, 0};
      poll(&ready, 1, WAKE_NS / 1000000);
    }
    else if (errno != EINTR)
      fail(p, errno);
  }
  pthread_mutex_lock(&p->lock);
  p->written += done;
  pthread_mutex_unlock(&p->lock);
}

/* Compresses and writes n bytes. 'flush' is zlib's. */
static void squeeze (Profile *p, const unsigned char *data, size_t n,
                     int flush) {
  p->z.next_in = (unsigned char *)data;
  p->z.avail_in = (uInt)n;
  do {
    p->z.next_out = p->deflated;
    p->z.avail_out = DEFLATED_BYTES;
    deflate(&p->z, flush);
    put(p, p->deflated, DEFLATED_BYTES - p->z.avail_out);
  } while (p->z.avail_out == 0 && !p->failed);
}

/* The encoder's sink. Pieces fit zlib's 32-bit lengths. */
static void sink (void *ud, Bytes *out) {
  Profile *p = ud;
  size_t at = 0;
  while (at < out->n && !p->failed) {
    size_t n = out->n - at < (1u << 30) ? out->n - at : (1u << 30);
    if (p->compress)
      squeeze(p, out->data + at, n, Z_NO_FLUSH);
    else
      put(p, out->data + at, n);
    at += n;
  }
  out->n = 0;
  if (encoder_failed(p->encoder) && !p->failed)
    fail(p, ENOMEM);
}

/* All that was encoded so far can be read from the file after this. */
static void flush (Profile *p, int mode) {
  if (!p->failed && p->compress)
    squeeze(p, NULL, 0, mode);
  if (!p->failed)
    p->unflushed = 0;
  p->dirty = 0;
  p->flushed = now_ns(CLOCK_MONOTONIC);
}

/* -------------------------------------------------------------- writer -- */

static void encode (Profile *p, const Event *event) {
  const void *body = event + 1;
  switch (event->type) {
    case EVENT_NAME:
      encoder_name(p->encoder, event->n, body);
      break;
    case EVENT_SAMPLE: {
      const ProfileSample *s = body;
      p->unflushed += s->count;
      encoder_sample(p->encoder, s, (const ProfileFrame *)(s + 1),
                     (size_t)event->n);
      break;
    }
    case EVENT_FATES:
      encoder_fates(p->encoder, body, (size_t)event->n);
      break;
    case EVENT_COLLECTION:
      encoder_collection(p->encoder, body);
      break;
    default:
      encoder_period(p->encoder, event->n);
      break;
  }
}

/* Encodes a whole buffer; after a failure it only counts what is lost. */
static void drain (Profile *p, const Queue *q) {
  size_t at = 0;
  uint64_t lost = 0;
  while (at < q->used) {
    const Event *event = (const Event *)(q->data + at);
    if (!p->failed) {
      encode(p, event);
      if (encoder_full(p->encoder))
        encoder_batch(p->encoder);
    }
    else if (event->type == EVENT_SAMPLE)
      lost += ((const ProfileSample *)(event + 1))->count;
    at += event->size;
  }
  if (q->used > 0)
    p->dirty = 1;
  if (lost > 0) {
    pthread_mutex_lock(&p->lock);
    p->lost += lost;
    pthread_mutex_unlock(&p->lock);
  }
}

/* Waits (lock held) until there is much to do, time is over, or the end. */
static void await (Profile *p) {
  struct timespec until;
  uint64_t t = now_ns(CLOCK_MONOTONIC) + WAKE_NS;
  until.tv_sec = (time_t)(t / 1000000000u);
  until.tv_nsec = (long)(t % 1000000000u);
  while (!p->stop && p->queue[p->active].used < QUEUE_BYTES / 2) {
    if (pthread_cond_timedwait(&p->work, &p->lock, &until) == ETIMEDOUT)
      break;
  }
}

static void *writer (void *ud) {
  Profile *p = ud;
  int stop;
  encoder_batch(p->encoder);  /* the head of the log */
  flush(p, Z_SYNC_FLUSH);
  do {
    Queue *q;
    pthread_mutex_lock(&p->lock);
    await(p);
    stop = p->stop;
    q = &p->queue[p->active];
    p->active = !p->active;
    pthread_cond_broadcast(&p->room);
    pthread_mutex_unlock(&p->lock);
    drain(p, q);
    q->used = 0;
    if (p->dirty && now_ns(CLOCK_MONOTONIC) - p->flushed >= FLUSH_NS) {
      if (!p->failed)
        encoder_batch(p->encoder);
      flush(p, Z_SYNC_FLUSH);
    }
  } while (!stop);
  if (!p->failed) {
    encoder_finish(p->encoder, now_ns(CLOCK_MONOTONIC));
    flush(p, Z_FINISH);
  }
  return NULL;
}

/* --------------------------------------------------------- open, close -- */

/* Frees all but the encoder, closes the file. */
static void release (Profile *p) {
  if (p->fd >= 0)
    close(p->fd);
  if (p->compress)
    deflateEnd(&p->z);
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
  error = pthread_create(&p->thread, NULL, writer, p);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

/* Memory, file and thread; an errno, or 0. */
static int begin (Profile *p, const ProfileConfig *config) {
  pthread_condattr_t clock;
  int i;
  for (i = 0; i < 2; i++) {
    p->queue[i].data = malloc(QUEUE_BYTES);
    if (p->queue[i].data == NULL)
      return ENOMEM;
  }
  if (config->compress) {
    if (deflateInit2(&p->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 9,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      return ENOMEM;
    p->compress = 1;
  }
  /* a pipe that nobody reads is an error (ENXIO), not a reason to wait */
  p->fd = open(config->path,
               O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
  if (p->fd < 0)
    return errno;
  p->encoder = encoder_new(config, now_ns(CLOCK_MONOTONIC),
                           now_ns(CLOCK_REALTIME) / 1000, sink, p);
  if (p->encoder == NULL)
    return ENOMEM;
  pthread_mutex_init(&p->lock, NULL);
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&p->work, &clock);
  pthread_condattr_destroy(&clock);
  pthread_cond_init(&p->room, NULL);
  return startthread(p);
}

Profile *profile_open (const ProfileConfig *config, char *err,
                       size_t errsize) {
  Profile *p = calloc(1, sizeof(*p));
  int error = ENOMEM;
  if (p != NULL) {
    p->fd = -1;
    p->pid = getpid();
    error = begin(p, config);
    if (error == 0)
      return p;
    if (p->encoder != NULL)
      encoder_free(p->encoder);
    release(p);
  }
  snprintf(err, errsize, "cannot write profile '%s': %s", config->path,
           error == ENXIO ? "nobody reads this pipe" : strerror(error));
  errno = error;
  return NULL;
}

static void totals (const Profile *p, ProfileTotals *t) {
  t->samples = p->taken - p->lost;
  t->lost = p->lost;
  t->bytes = p->written;
  t->error = p->error;
}

void profile_totals (Profile *p, ProfileTotals *t) {
  pthread_mutex_lock(&p->lock);
  totals(p, t);
  pthread_mutex_unlock(&p->lock);
}

int profile_close (Profile *p, ProfileTotals *t) {
  int ok;
  if (p->pid != getpid())
    p->lost = p->taken;
  else {
    pthread_mutex_lock(&p->lock);
    p->stop = 1;
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    if (close(p->fd) != 0 && p->error == 0 && errno != EINTR)
      p->error = errno;
    p->fd = -1;
    encoder_free(p->encoder);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->room);
    pthread_mutex_destroy(&p->lock);
  }
  if (t != NULL)
    totals(p, t);
  ok = p->lost == 0 && p->error == 0;
  release(p);
  return ok ? 0 : -1;
}

/*
** The fork may have caught the writer between freeing one of the encoder's
** buffers and noting where the new one is: the child leaves them alone.
*/
void profile_abandon (Profile *p) {
  release(p);
}

/* -------------------------------------------------------------- events -- */

/*
** Room for an event with a body of 'n' bytes in the active buffer (lock
** held); NULL when there will be none. May wait for the writer (Q3).
*/
static void *reserve (Profile *p, int type, uint64_t number, size_t n) {
  size_t size = sizeof(Event) + ((n + 7) & ~(size_t)7);
  Queue *q;
  Event *event;
  for (;;) {
    if (p->error != 0)
      return NULL;
    q = &p->queue[p->active];
    if (QUEUE_BYTES - q->used >= size)
      break;
    if (p->pid != getpid())
      return NULL;
    pthread_cond_signal(&p->work);
    pthread_cond_wait(&p->room, &p->lock);
  }
  event = (Event *)(q->data + q->used);
  event->type = (uint32_t)type;
  event->size = (uint32_t)size;
  event->n = number;
  if (q->used < QUEUE_BYTES / 2 && q->used + size >= QUEUE_BYTES / 2)
    pthread_cond_signal(&p->work);
  q->used += size;
  return event + 1;
}

void profile_function (Profile *p, uint64_t id, const char *name,
                       int linedefined, const char *source) {
  char text[VMPROF_NAMELIMIT + 1];
  void *body;
  vmprof_luaname(text, name, linedefined, source);
  pthread_mutex_lock(&p->lock);
  body = reserve(p, EVENT_NAME, id, strlen(text) + 1);
  if (body != NULL)
    strcpy(body, text);
  pthread_mutex_unlock(&p->lock);
}

/*
** Copies a stack. Of one that is too deep the outer and the inner half stay,
** with a frame that says so between them.
*/
static void copyframes (ProfileFrame *to, const ProfileFrame *frames,
                        size_t n) {
  if (n == 0) return;  /* there may be no vector */
  if (n <= PROFILE_DEPTH)
    memcpy(to, frames, n * sizeof(*to));
  else {
    size_t inner = PROFILE_DEPTH / 2;
    size_t outer = PROFILE_DEPTH - inner - 1;
    memcpy(to, frames, inner * sizeof(*to));
    to[inner].id = ENCODER_CUT;
    to[inner].line = 0;
    memcpy(to + inner + 1, frames + n - outer, outer * sizeof(*to));
  }
}

void profile_sample (Profile *p, const ProfileSample *s,
                     const ProfileFrame *frames, size_t n) {
  size_t depth = n <= PROFILE_DEPTH ? n : PROFILE_DEPTH;
  void *body;
  assert(s->count >= 1 && s->kind >= 0 && s->kind < KIND_COUNT);
  pthread_mutex_lock(&p->lock);
  p->taken += s->count;
  body = reserve(p, EVENT_SAMPLE, depth,
                 sizeof(*s) + depth * sizeof(*frames));
  if (body != NULL) {
    memcpy(body, s, sizeof(*s));
    copyframes((ProfileFrame *)((ProfileSample *)body + 1), frames, n);
  }
  else
    p->lost += s->count;
  pthread_mutex_unlock(&p->lock);
}

void profile_collection (Profile *p, const ProfileCollection *c,
                         const unsigned char *survived, size_t n) {
  void *body;
  pthread_mutex_lock(&p->lock);
  while (n > 0) {
    size_t m = n < FATES_CHUNK ? n : FATES_CHUNK;
    body = reserve(p, EVENT_FATES, m, m);
    if (body != NULL)
      memcpy(body, survived, m);
    survived += m;
    n -= m;
  }
  body = reserve(p, EVENT_COLLECTION, 0, sizeof(*c));
  if (body != NULL)
    memcpy(body, c, sizeof(*c));
  pthread_mutex_unlock(&p->lock);
}

void profile_period (Profile *p, uint64_t period) {
  pthread_mutex_lock(&p->lock);
  reserve(p, EVENT_PERIOD, period, 0);
  pthread_mutex_unlock(&p->lock);
}
