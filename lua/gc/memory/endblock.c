/* SPDX-License-Identifier: MIT */
/* Keeps one freed block at the end of malloc's heap (endblock.h). */
#define LUA_CORE
#define _DEFAULT_SOURCE  /* sbrk */

#include "lprefix.h"

#include <unistd.h>

#include "lua.h"

#include "endblock.h"
#include "giveback.h"


/* The freed block at the end of malloc's heap that the process keeps. An OS thread must have taken
   the flag 'busy' to use this struct. An OS thread never waits for the flag: if another one has it,
   the offered block is freed at once. */
static struct {
  /* 1: an OS thread uses this struct (luaN_hold) */
  int busy;
  /* the freed block that is kept at present, or NULL */
  char *last;
  /* milliseconds of CLOCK_MONOTONIC when luaN_keepend last received a block of malloc's heap */
  unsigned at;
} stays;


void *luaN_keepend (void *p, unsigned ms) {
  /* A block above the program break is a mapping or in another arena of malloc. */
  if ((char *)p >= (char *)sbrk(0) || !luaN_hold(&stays.busy)) return p;
  stays.at = ms;
  if ((char *)p > stays.last) {
    void *before = stays.last;
    __atomic_store_n(&stays.last, (char *)p, __ATOMIC_RELAXED);
    p = before;
  }
  luaN_letgo(&stays.busy);
  return p;
}


void *luaN_takeend (unsigned ms, int now) {
  void *p = NULL;
  if (__atomic_load_n(&stays.last, __ATOMIC_RELAXED) == NULL || !luaN_hold(&stays.busy))
    return NULL;
  if (now || ms - stays.at >= LUAN_UNUSED_MS) {
    p = stays.last;
    __atomic_store_n(&stays.last, NULL, __ATOMIC_RELAXED);
  }
  luaN_letgo(&stays.busy);
  return p;
}
