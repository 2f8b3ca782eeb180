/* SPDX-License-Identifier: MIT */
/* The keyed hash function (hash.h). */
#define _GNU_SOURCE
#include "hash.h"

#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>

uint64_t hash_key[2];

/* Sets hash_key to random odd numbers from getrandom. If getrandom has no random numbers yet, soon
   after the system's start, makes the numbers from AT_RANDOM and the clock. */
static void draw (void) {
  uint64_t key[2];
  if (getrandom(key, sizeof(key), GRND_NONBLOCK) != (ssize_t)sizeof(key)) {
    const void *given = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    struct timespec t;
    memset(key, 0, sizeof(key));
    if (given != NULL)
      memcpy(key, given, sizeof(key));
    clock_gettime(CLOCK_REALTIME, &t);
    key[0] ^= (uint64_t)t.tv_nsec * 0x9e3779b97f4a7c15u;
  }
  hash_key[1] = key[1] | 1;
  hash_key[0] = key[0] | 1;
}

void hash_prepare (void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, draw);
}

uint64_t hash_bytes (const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  uint64_t h, w;
  hash_prepare();
  h = hash_word(n);
  for (; n >= 8; n -= 8, p += 8) {
    memcpy(&w, p, 8);
    h = hash_fold(h ^ w, hash_key[0]);
  }
  w = 0;
  if (n > 0)
    memcpy(&w, p, n);
  return hash_fold(h ^ w, hash_key[1]);
}
