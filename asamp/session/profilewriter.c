/* SPDX-License-Identifier: MIT */
/* Runs the writer thread of a profile (profilewriter.h). */
#define _GNU_SOURCE
#include "profilewriter.h"
#include "clock.h"
#include "encoder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ns between flushes. After a flush is due, 0.3 s are left for writing, so that the file lags by at
   most a second. */
#define FLUSH_NS	700000000

/* Sets p->stalled, which shows whether the file is stalled: the last write has failed and will be
   tried again. At the end of a stall, encodes a mark with the number of lost samples. Reports the
   first stall to the user. */
static void notestall (Profile *p) {
  const LiveFile *f = &p->file;
  int before;
  uint64_t lost;
  pthread_mutex_lock(&p->lock);
  before = p->stalled;
  __atomic_store_n(&p->stalled, f->stalled, __ATOMIC_RELAXED);
  lost = profilequeue_lost(p) + __atomic_load_n(&p->refused, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&p->lock);
  if (before == 0 && f->stalled != 0)
    p->gap = lost;
  if (f->stalled != 0 && p->stallreported == 0 && p->reportstall != NULL) {
    p->stallreported = 1;
    p->reportstall(p->place.path, f->stalled, 0);
  }
  if (before != 0 && f->stalled == 0 && f->error == 0) {
    char value[160];
    snprintf(value, sizeof(value), "%llu: %s", (unsigned long long)(lost - p->gap),
             strerror(before));
    encoder_mark(p->encoder, clock_now(), "samples lost", 12, value,
                 strlen(value));
    p->dirty = 1;
    if (p->stallreported == 1) {
      p->stallreported = 2;
      p->reportstall(p->place.path, 0, lost - p->gap);
    }
  }
}

/* Publishes whether the file has failed or is stalled (notestall). At the first failure, counts the
   samples since the last flush as lost, and wakes the threads that wait for space in the queue. */
static void noteerror (Profile *p) {
  notestall(p);
  if (p->file.error == 0 || p->error != 0)
    return;
  pthread_mutex_lock(&p->lock);
  p->error = p->file.error;
  event_add(&p->lost, &p->unflushed);
  memset(&p->unflushed, 0, sizeof(p->unflushed));
  if (p->error == ESTALE) {  /* another program has truncated the file */
    event_add(&p->lost, &p->written);
    memset(&p->written, 0, sizeof(p->written));
  }
  pthread_cond_broadcast(&p->room);
  pthread_mutex_unlock(&p->lock);
}

void profilewriter_sink (void *ud, Bytes *out) {
  Profile *p = ud;
  livefile_put(&p->file, out->data, out->n);
  out->n = 0;
  if (encoder_failed(p->encoder))
    livefile_fail(&p->file, ENOMEM);
  noteerror(p);
}

/* Flushes the file, so that all batches (encoder_batch) so far can be read from it. 'last' 1: no
   batch follows. */
static void profilewriter_flush (Profile *p, int last) {
  if (encoder_failed(p->encoder))
    livefile_fail(&p->file, ENOMEM);
  livefile_flush(&p->file, last);
  p->dirty = 0;
  p->sure = p->file.sure;
  noteerror(p);
  if (p->file.stalled == 0) {
    event_add(&p->written, &p->unflushed);
    memset(&p->unflushed, 0, sizeof(p->unflushed));
  }
}

/* Returns 1 if p->file has flushed by itself since the last call of profilewriter_flush, or will
   soon, because the bytes that it has received since then nearly fill LIVEFILE_PIECE. */
static int ismuch (const Profile *p) {
  const LiveFile *f = &p->file;
  return f->stalled == 0 && (f->kept.n >= LIVEFILE_PIECE / 8 * 7 || f->sure != p->sure);
}

/* Ends the batch if it is full. If p->file has flushed by itself, or soon will (ismuch), ends the
   batch and flushes the file: a stall truncates the file to its last flush, which must be at the
   end of a batch. */
static void goon (Profile *p) {
  if (!encoder_full(p->encoder) && !ismuch(p))
    return;
  encoder_batch(p->encoder);
  if (ismuch(p))
    profilewriter_flush(p, 0);
}

/* Encodes all events of a buffer. If the file has failed, instead counts the samples of these
   events as lost. */
static void profilewriter_drain (Profile *p, const Queue *q) {
  size_t at = 0;
  EventTally lost = {0, 0, 0};
  while (at < q->used) {
    const Event *event = (const Event *)(q->data + at);
    if (p->file.error == 0) {
      event_count(event, &p->unflushed);
      event_encode(event, p->encoder);
      goon(p);
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

/* Waits until there are WAKE_BYTES of events, a flush or a call of the callback 'round' is due,
   profile_dump was called, or the profile ends. Lock held. */
static void profilewriter_await (Profile *p) {
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

/* Waits for work, then exchanges the two buffers of the queue. Returns the buffer with the events.
   Sets *stop to 1 if the profile ends, and *wish to the request of profile_dump (NULL: none). */
static Queue *swap (Profile *p, int *stop, Wish **wish) {
  Queue *q;
  pthread_mutex_lock(&p->lock);
  profilewriter_await(p);
  *stop = p->stop;
  *wish = p->wish;
  q = &p->queue[p->active];
  p->active = !p->active;
  pthread_cond_broadcast(&p->room);
  pthread_mutex_unlock(&p->lock);
  return q;
}

/* Calls the callback 'round'. If 'round' had work, sets p->pause to SOON_NS; else doubles p->pause,
   up to about FLUSH_NS. */
static void profilewriter_turn (Profile *p) {
  if (p->round == NULL)
    return;
  if (p->round())
    p->pause = SOON_NS;
  else if (p->pause < FLUSH_NS)
    p->pause *= 2;
}

/* Passes the result of a profile_dump to the thread that waits for it. */
static void profilewriter_answer (Profile *p, const char *path, int error) {
  pthread_mutex_lock(&p->lock);
  if (p->wish != NULL) {
    snprintf(p->wish->path, p->wish->pathsize, "%s", path != NULL ? path : p->config.path);
    p->wish->error = error;
    p->wish->isdone = 1;
    p->wish = NULL;
    pthread_cond_broadcast(&p->answered);
  }
  pthread_mutex_unlock(&p->lock);
}

void *profilewriter_run (void *ud) {
  Profile *p = ud;
  Wish *wish;
  int stop;
  spare_use(&p->spare);
  encoder_batch(p->encoder);  /* writes the head of the log (encoder.h) to the file */
  profilewriter_flush(p, 0);
  p->flushed = clock_now();
  do {
    (void)spare_keep(&p->spare);
    Queue *q = swap(p, &stop, &wish);
    if (stop || (wish != NULL && wish->isshort))
      spare_spend(&p->spare, SPARE_OWN);
    profilewriter_drain(p, q);
    q->used = 0;
    profilewriter_turn(p);
    if (wish != NULL || clock_now() - p->flushed >= FLUSH_NS) {
      if (p->dirty && p->file.error == 0)
        encoder_batch(p->encoder);
      if (p->dirty || p->file.stalled != 0)
        profilewriter_flush(p, 0);
      p->flushed = clock_now();
    }
    if (wish != NULL)
      profilewriter_answer(p, p->place.path, p->file.error != 0 ? p->file.error : p->file.stalled);
  } while (!stop);
  if (p->file.stalled != 0)
    /* The last write failed. Tries it again before the end of the log is encoded below: if it
       succeeds, a mark with the number of lost samples is added to the log, which must precede the
       end. */
    profilewriter_flush(p, 0);
  if (p->file.error == 0) {
    pthread_mutex_lock(&p->lock);
    encoder_lost(p->encoder, profilequeue_lost(p));
    pthread_mutex_unlock(&p->lock);
    encoder_finish(p->encoder, clock_now());
    profilewriter_flush(p, 1);
  }
  if (p->file.stalled != 0) {
    livefile_fail(&p->file, p->file.stalled);
    noteerror(p);
  }
  __atomic_store_n(&p->whole, 1, __ATOMIC_RELEASE);
  livefile_close(&p->file);
  encoder_free(p->encoder);
  __atomic_store_n(&p->done, 1, __ATOMIC_RELEASE);
  /* Answers a call of profile_dump that came after the loop had taken the last events. */
  profilewriter_answer(p, p->place.path, p->file.error);
  return NULL;
}

/* ----------------------------------------------------- flight recorder -- */

/* The encoder's sink for a flight recorder: writes the bytes to the open file. */
static void putring (void *ud, Bytes *out) {
  Profile *p = ud;
  livefile_put(&p->file, out->data, out->n);
  out->n = 0;
}

/* Returns the descriptor of the profiles' folder, or 0 if the program has closed it. */
static int profilewriter_folderof (const Profile *p) {
  struct stat s;
  return p->config.folder > 0 && fstat(p->config.folder, &s) == 0 &&
         s.st_dev == p->folder.st_dev && s.st_ino == p->folder.st_ino ? p->config.folder : 0;
}

/* Opens a new file for a flight recorder: at the path 'to' or, if 'to' is NULL, at the profile's
   path with the next number. Returns an errno, or 0. */
static int openring (Profile *p, const char *to, char *why, size_t size) {
  const ProfileConfig *c = &p->config;
  const PlaceWish own = {to, 1, 0, PLACE_NONE, NULL, 0, 0, NULL};
  const PlaceWish wish = {c->path, c->number, c->made, c->replace, NULL, 0,
                          profilewriter_folderof(p), NULL};
  int error;
  free(p->place.path);
  memset(&p->file, 0, sizeof(p->file));
  p->file.fd = -1;
  memset(&p->place, 0, sizeof(p->place));
  error = place_open(to != NULL ? &own : &wish, &p->place, why, size);
  if (error != 0)
    return error;
  /* the last argument 0: a failed write is an error at once. It could not be tried again, because
     the file of a flight recorder is written all at once and then closed. */
  return livefile_open(&p->file, p->place.fd, c->compress, 0);
}

/* Encodes the content of the flight recorder into the open file. 'isend' 1: the profile ends.
   Returns an errno, or 0. */
static int putall (Profile *p, uint64_t lost, int isend) {
  uint64_t now = clock_now(), since = ring_since(p->ring, now);
  uint64_t epoch = (clock_read(CLOCK_REALTIME) - clock_between(since, now)) / 1000;
  ProfileLeft left = {0};
  RingTotals totals;
  Encoder *e;
  p->config.log.recorded = now;
  e = encoder_new(&p->config.log, since, epoch, putring, p);
  if (e == NULL)
    return ENOMEM;
  ring_emit(p->ring, e, now, &totals);
  encoder_ring(e, totals.samples, totals.bytes, totals.ns, p->config.ring.ns);
  left.before = ring_left(p->ring);
  encoder_left(e, &left, __atomic_load_n(&p->cut, __ATOMIC_RELAXED));
  encoder_lost(e, lost);
  if (!isend) encoder_notallocated(e);
  encoder_finish(e, now);
  if (encoder_failed(e) || ring_failed(p->ring))
    livefile_fail(&p->file, ENOMEM);
  encoder_free(e);
  livefile_flush(&p->file, 1);
  return p->file.error;
}

/* Sets the number in the name of the flight recorder's next file. */
static void nextname (Profile *p) {
  p->config.number = p->config.number > 1 ? p->config.number + 1 : 2;
  p->config.made = 1;
}

/* Empties a file that could not be written completely, so that it uses no space on a full disk, and
   removes it if place_open has created it. At the end of the profile ('isend' 1), keeps the file
   unless it is empty, because no later file replaces it. */
static void discard (Profile *p, int isend) {
  if (!isend)
    livefile_empty(&p->file);
  place_undo(&p->place);
}

/* Writes the content of the flight recorder to a new file: the path 'to'; NULL: the next file.
   'isshort' 1: memory is exhausted, so first frees the writer's reserve. 'isend' 1: the profile
   ends. Returns an errno, or 0. */
static int dumpring (Profile *p, const char *to, int isshort, int isend, char *why, size_t size) {
  uint64_t lost;
  int error;
  pthread_mutex_lock(&p->lock);
  lost = profilequeue_lost(p);
  pthread_mutex_unlock(&p->lock);
  if (isshort)
    spare_spend(&p->spare, SPARE_OWN);
  error = openring(p, to, why, size);
  if (error == 0) {
    p->file.leaving = isend;
    error = putall(p, lost, isend);
  }
  if (error == 0 && to == NULL)
    nextname(p);
  if (error != 0)
    discard(p, isend);
  livefile_close(&p->file);
  if (error == 0)
    error = p->file.error;
  (void)spare_keep(&p->spare);
  return error;
}

void *profilewriter_record (void *ud) {
  Profile *p = ud;
  char why[256];
  Wish *wish;
  int stop, error;
  spare_use(&p->spare);
  do {
    (void)spare_keep(&p->spare);
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
    profilewriter_turn(p);
    if (wish != NULL) {
      error = dumpring(p, wish->to, wish->isshort, 0, wish->why, sizeof(wish->why));
      profilewriter_answer(p, p->place.path, error);
    }
  } while (!stop);
  error = dumpring(p, NULL, 1, 1, why, sizeof(why));
  p->file.error = error;
  if (error != 0) {
    pthread_mutex_lock(&p->lock);
    p->error = error;
    p->lost = p->taken;
    pthread_mutex_unlock(&p->lock);
  }
  __atomic_store_n(&p->whole, 1, __ATOMIC_RELEASE);
  __atomic_store_n(&p->done, 1, __ATOMIC_RELEASE);
  profilewriter_answer(p, p->place.path, error);
  return NULL;
}
