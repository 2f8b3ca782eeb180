/* SPDX-License-Identifier: MIT */
/* Opens, queries, dumps and closes a profile (profile.h; internals in profilequeue.h). */
#define _GNU_SOURCE
#include "profile.h"
#include "clock.h"
#include "descriptor.h"
#include "encoder.h"
#include "uncancelled.h"
#include "profilewriter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

/* Frees a flight recorder's ring and strings. */
static void endring (Profile *p) {
  ring_free(p->ring);
  p->ring = NULL;
  if (p->config.path != NULL) {
    free((char *)p->config.path);
    free((char *)p->config.log.command);
  }
}

/* Closes the file and frees 'p'. Does not free the encoder, nor the data that endring frees. */
static void profileopen_release (Profile *p) {
  livefile_abandon(&p->file);
  spare_spend(&p->spare, 0);
  free(p->place.path);
  free(p->tuning);
  free(p->queue[0].data);
  free(p->queue[1].data);
  free(p);
}

/* Starts the writer, with a small stack. Returns an errno, or 0. On failure, stores the reason in
   'why', except for EAGAIN and ENOMEM, for which 'explain' finds the reason. */
static int startthread (Profile *p, char *why, size_t size) {
  void *(*run) (void *) = p->ring != NULL ? profilewriter_record : profilewriter_run;
  int error;
  p->worker = workers_start(run, p, WRITER_STACK, &error);
  if (p->worker == NULL) {
    if (error != EAGAIN && error != ENOMEM)
      snprintf(why, size, "cannot start the thread that writes the profile: %s; a filter of system "
               "calls (seccomp) forbids clone3: permit clone3", strerror(error));
    return error;
  }
  pthread_getcpuclockid(p->worker->thread, &p->clock);
  return 0;
}

/* Opens the file. Returns an errno, or 0. On failure, stores the reason in 'why'; "": the text of
   the errno is the reason. */
static int profileopen_openfile (Profile *p, const ProfileConfig *config, char *why,
                                 size_t size) {
  const PlaceWish wish = {config->path, config->number, config->made,
                          config->replace, config->taken, 0, config->folder, NULL};
  int error = place_open(&wish, &p->place, why, size);
  if (error != 0)
    return error;
  error = livefile_open(&p->file, p->place.fd, config->compress, 1);
  livefile_at(&p->file, p->place.path, config->folder);
  return error;
}

/* Returns a resource limit in the form that ulimit prints: "unlimited", or the limit divided by
   'unit'. The number is stored in 'text'. */
static const char *limited (int which, rlim_t unit, char *text, size_t size) {
  struct rlimit r;
  if (getrlimit(which, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
    return "unlimited";
  snprintf(text, size, "%llu", (unsigned long long)(r.rlim_cur / unit));
  return text;
}

/* Writes a possible cause of the errno to 'why': a resource limit or a missing permission. Writes
   nothing if none is known. */
static void reason (int error, char *why, size_t size) {
  char a[32], b[32];
  if (error == EMFILE)
    descriptor_few(why, size);
  else if (error == ENOMEM && limited(RLIMIT_AS, 1024, a, sizeof(a)) == a)
    snprintf(why, size, "not enough memory; raise the limit (ulimit -v, now %s KiB)", a);
  else if (error == EAGAIN)
    snprintf(why, size, "cannot start the thread that writes the profile: too little memory "
                        "(ulimit -v, in KiB, now %s) or too many processes (ulimit -u, now %s); "
                        "raise these limits",
             limited(RLIMIT_AS, 1024, a, sizeof(a)),
             limited(RLIMIT_NPROC, 1, b, sizeof(b)));
  else if (error == EACCES)
    snprintf(why, size, "Permission denied; the process that writes the profile runs as user %u, "
                        "which may not write there", (unsigned)geteuid());
}

/* Writes to 'err' that no profile can be written at 'path', and why. */
static void explain (int error, const char *path, char *why, size_t size, char *err,
                     size_t errsize) {
  if (why[0] == '\0')
    reason(error, why, size);
  snprintf(err, errsize, "cannot write profile '%s': %s", path, why[0] != '\0' ? why :
           error == ENXIO ? "no process reads this pipe; start the reader first" : strerror(error));
}

static int beginfile (Profile *p, const ProfileConfig *config, const EncoderConfig *own,
                      char *why, size_t size) {
  int error = profileopen_openfile(p, config, why, size);
  if (error != 0)
    return error;
  if (!descriptor_spare(p->file.fd, 0))
    return EMFILE;
  p->encoder = encoder_new(own, clock_now(), clock_read(CLOCK_REALTIME) / 1000,
                           profilewriter_sink, p);
  return p->encoder != NULL ? 0 : ENOMEM;
}

/* Initializes a flight recorder. Returns an errno, or 0. */
static int beginring (Profile *p, const ProfileConfig *config, const EncoderConfig *own) {
  const char *command = own->command;
  p->config = *config;
  if (config->folder > 0 && fstat(config->folder, &p->folder) != 0)
    p->config.folder = 0;
  p->config.log = *own;
  if (getrandom(&p->config.log.recorder, sizeof(p->config.log.recorder), GRND_NONBLOCK) < 0)
    p->config.log.recorder = clock_read(CLOCK_REALTIME);
  p->config.path = strdup(config->path);
  p->config.log.command = command != NULL ? strdup(command) : NULL;
  p->ring = ring_new(&config->ring, &p->config.log, clock_now());
  return p->ring != NULL && p->config.path != NULL &&
         (command == NULL || p->config.log.command != NULL) ? 0 : ENOMEM;
}

/* Allocates memory, opens the file and starts the thread. Returns an errno, or 0. */
static int profileopen_start (Profile *p, const ProfileConfig *config, char *why,
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
  if (secure_getenv("LUA_GC") != NULL)
    own.tuning = p->tuning = strdup(secure_getenv("LUA_GC"));
  if (!spare_keep(&p->spare))
    return ENOMEM;
  p->reportstall = config->stalled;
  p->round = config->round;
  p->pause = SOON_NS;
  error = config->ring.most > 0 ? beginring(p, config, &own)
                                : beginfile(p, config, &own, why, size);
  if (error != 0)
    return error;
  pthread_mutex_init(&p->lock, NULL);
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&p->work, &clock);
  pthread_condattr_destroy(&clock);
  pthread_cond_init(&p->room, NULL);
  pthread_cond_init(&p->answered, NULL);
  return startthread(p, why, size);
}

Profile *profile_open (const ProfileConfig *config, char *err,
                       size_t errsize) {
  Profile *p = calloc(1, sizeof(*p));
  char why[256] = "";
  int error = ENOMEM;
  if (p != NULL) {
    p->file.fd = -1;
    p->pid = getpid();
    error = profileopen_start(p, config, why, sizeof(why));
    if (error == 0)
      return p;
    if (p->encoder != NULL)
      encoder_free(p->encoder);
    endring(p);
    place_undo(&p->place);
    profileopen_release(p);
  }
  explain(error, config->path, why, sizeof(why), err, errsize);
  errno = error;
  return NULL;
}

const char *profile_path (const Profile *p) {
  int isthere = !profile_isring(p) || __atomic_load_n(&p->done, __ATOMIC_ACQUIRE);
  return isthere && p->place.path != NULL ? p->place.path : p->config.path;
}

int profile_ismine (const Profile *p) {
  return p->pid == getpid();
}

unsigned profile_number (const Profile *p) {
  return __atomic_load_n(&p->config.number, __ATOMIC_RELAXED);
}

int profile_isring (const Profile *p) {
  return p->config.ring.most > 0;
}

const char *profile_elsewhere (const Profile *p) {
  return p->place.busy ? "is still being written"
       : p->place.kept ? "is an existing profile" : NULL;
}

void profile_file (const Profile *p, struct stat *file) {
  struct stat now;
  memset(file, 0, sizeof(*file));
  if (profile_isring(p))
    return;  /* profile_dump may make the writer thread change p->file at any time */
  file->st_dev = p->file.device;
  file->st_ino = p->file.inode;
  file->st_nlink = fstat(p->file.fd, &now) != 0 || now.st_ino != file->st_ino ||
                   !S_ISREG(now.st_mode) || now.st_nlink > 0;
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

void profile_lost (Profile *p, uint64_t n) {
  pthread_mutex_lock(&p->lock);
  p->elsewhere += n;
  pthread_mutex_unlock(&p->lock);
}

void profile_totals (Profile *p, ProfileTotals *t) {
  pthread_mutex_lock(&p->lock);
  profilequeue_totals(p, t);
  pthread_mutex_unlock(&p->lock);
}

const char *profile_message (int error) {
  return error == EBADF ? "the program has closed the file descriptor of the profile; enable "
                          "the profiler after the program has closed descriptors"
       : error == ESTALE ? "another program truncated the profile while it was written; use "
                           "rotate= instead"
       : error == EDEADLK ? "the thread that writes the profile was blocked for 3 s at the end of "
                            "the process, for example by exit() in a signal handler; call exit() "
                            "outside of signal handlers"
       : error == ETIMEDOUT ? "no process has read from this pipe for 5 s, so the end of the "
                              "profile is missing; start a reader that reads to the end"
       : strerror(error);
}

void profile_reason (int error, char *why, size_t size) {
  snprintf(why, size, "%s", profile_message(error));
  if (error == ENOMEM)
    reason(error, why, size);
}

int profile_dump (Profile *p, const char *to, int isshort, char *path, size_t pathsize,
                  char *err, size_t errsize) {
  UNCANCELLED;
  Wish wish = {to, isshort, 0, 0, path, "", pathsize};
  int istaken = 0;
  if (p->pid == getpid() && !p->ended) {
    pthread_mutex_lock(&p->lock);
    while (p->wish != NULL && !p->stop)
      pthread_cond_wait(&p->answered, &p->lock);
    istaken = !p->stop;
    if (istaken) {
      p->wish = &wish;
      profilequeue_wake(p);
      while (!wish.isdone)
        pthread_cond_wait(&p->answered, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
  }
  if (!istaken)
    snprintf(err, errsize, p->pid == getpid()
             ? "nothing was written: the profile has ended; call dump before the end of the session"
             : "nothing was written: the profile belongs to the parent process; call dump there");
  else if (wish.error != 0)
    explain(wish.error, path, wish.why, sizeof(wish.why), err, errsize);
  return istaken && wish.error == 0;
}

/* Frees the large buffers of an ended profile, because an idle state may use the Profile for long.
   Lock held. */
static void freequeue (Profile *p) {
  int i;
  for (i = 0; i < 2; i++) {
    free(p->queue[i].data);
    p->queue[i].data = NULL;
  }
  ring_free(p->ring);
  p->ring = NULL;
  spare_spend(&p->spare, 0);
}

/* Makes the writer finish and close the file, waits until it has done so, and frees the queue. */
static void profileopen_end (Profile *p) {
  __atomic_store_n(&p->file.leaving, 1, __ATOMIC_RELAXED);
  pthread_mutex_lock(&p->lock);
  p->stop = 1;
  profilequeue_wake(p);
  pthread_mutex_unlock(&p->lock);
  workers_join(p->worker);
  pthread_mutex_lock(&p->lock);
  /* If closing has failed, or the file was deleted, no sample is in the file. */
  if (p->file.error != p->error)
    p->lost = p->taken;
  p->error = p->file.error;
  freequeue(p);
  pthread_mutex_unlock(&p->lock);
}

/* Ends a profile. A forked child does not take the lock, which another thread may have held at the
   fork. */
int profile_end (Profile *p, ProfileTotals *t) {
  int ok, ismine = p->pid == getpid();
  if (ismine) {
    if (!p->ended)
      profileopen_end(p);
    p->ended = 1;
    pthread_mutex_lock(&p->lock);
  }
  else
    p->lost = p->taken;
  if (t != NULL)
    profilequeue_totals(p, t);
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
  profileopen_release(p);
  return result;
}

/* Frees the profile in a forked child, except the encoder and a flight recorder's ring and strings:
   the writer thread may have been changing them at the fork. */
void profile_abandon (Profile *p) {
  profileopen_release(p);
}
