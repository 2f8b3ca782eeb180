/* SPDX-License-Identifier: MIT */
/* Keeps one freed block at the end of malloc's heap, so that malloc does not return that memory to
   the system (endblock.h). */
#define LUA_CORE
#define _DEFAULT_SOURCE  /* sbrk */

#include "lprefix.h"

#include <unistd.h>

#include "lua.h"

#include "endblock.h"
#include "giveback.h"


/* The kept block of the process. An OS thread that reads or sets the fields must have taken the
   flag 'busy', and never waits for it: while another thread has it, a block that is offered for
   keeping is freed at once. */
static struct {
  /* flag that an OS thread takes to use the kept block: 1 while it is taken */
  int busy;
  /* the freed block at the end of malloc's heap that the process keeps, or NULL */
  char *last;
  /* Time, in milliseconds of CLOCK_MONOTONIC, of the last call of luaN_keepend with a freed block
     that could be kept. */
  unsigned at;
} stays;


void *luaN_keepend (void *p, unsigned ms) {
  /* A block above the program break is a mapping, or belongs to another arena of malloc. */
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
