/* SPDX-License-Identifier: MIT */
/* Gives each OS thread a Scratch (scratch.h). */
#define _GNU_SOURCE
#include "scratch.h"

#include <pthread.h>
#include <stdlib.h>

#include "owner.h"

static __thread Scratch *mine __attribute__((tls_model("initial-exec")));
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Scratch *nobodys;
static Scratch *all;
static pthread_key_t key;


static void scratch_release (void *ud) {
  Scratch *s = ud;
  mine = NULL;
  pthread_mutex_lock(&lock);
  s->next = nobodys;
  nobodys = s;
  pthread_mutex_unlock(&lock);
}


static void scratch_forked (void) {
  pthread_mutex_init(&lock, NULL);
}


static void scratch_once (void) {
  pthread_key_create(&key, scratch_release);
  pthread_atfork(NULL, NULL, scratch_forked);
}


static Scratch *scratch_take (void) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  Scratch *s;
  pthread_once(&control, scratch_once);
  pthread_mutex_lock(&lock);
  s = nobodys;
  if (s != NULL) nobodys = s->next;
  pthread_mutex_unlock(&lock);
  if (s == NULL) {
    s = calloc(1, sizeof(*s));
    if (s == NULL) return NULL;
    pthread_mutex_lock(&lock);
    s->before = all;
    all = s;
    pthread_mutex_unlock(&lock);
  }
  s->pointing = NULL;
  s->ready = 0;
  if (pthread_setspecific(key, s) == 0) return s;
  scratch_release(s);
  return NULL;
}


Scratch *scratch_mine (void) {
  return mine;
}


Scratch *scratch_open (int native) {
  Scratch *s = (mine != NULL) ? mine : scratch_take();
  if (s == NULL) return NULL;
  if (native && !s->ready) {
    owner_prime();
    if (!backtrace_open(&s->backtrace, owner_stackend())) return NULL;
    s->ready = 1;
  }
  return mine = s;
}
