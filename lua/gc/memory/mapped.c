/* SPDX-License-Identifier: MIT */
/* Memory from mmap, and spare mappings: mappings of closed states that are kept for new states
   (mapped.h). */

#include <stdint.h>
#include <sys/mman.h>

#include "lua.h"

#include "giveback.h"
#include "mapped.h"

/* largest number of bytes of all spare mappings (left by closed states, mapped.h) */
#define MOST	((size_t)32 * 1024 * 1024)

/* A spare mapping: one that a closed state has left. The struct is in the first bytes of the
   mapping. */
typedef struct Spare {
  struct Spare *next;
} Spare;

/* The spare mappings of the process (left by closed states). Only the OS thread that has taken the
   flag 'busy' may use this struct, except that 'bytes' may be read atomically. An OS thread never
   waits for the flag: while another one has it, the OS thread maps and unmaps memory directly. */
static struct {
  /* 1: an OS thread uses the spare mappings (luaN_hold) */
  int busy;
  /* of[n]: list of the spare mappings of n * LUAN_BLOCK bytes */
  Spare *of[LUAN_MAPUNITS + 1];
  size_t bytes;			/* bytes of all spare mappings */
  /* limit for the bytes of spare mappings; set when a state is closed */
  size_t room;
  /* bytes of mappings requested since a state was last closed */
  size_t requested;
  /* time at which a state was last closed, in milliseconds of CLOCK_MONOTONIC */
  unsigned at;
  int closed;			/* 1: a state of the process was closed */
} spares;


/* {== mappings ========================================================== */

static char *pages (char *at, size_t size) {
  void *p = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return (p != MAP_FAILED) ? (char *)p : NULL;
}


/* Like luaN_map, but returns NULL at once if the system refuses: maps 'size' bytes, aligned to
   'to', at address 'at' if possible. Tries a mapping of 'size' bytes first, because its address is
   usually aligned; otherwise maps more bytes and unmaps those before and after the aligned part. */
static char *map (size_t size, size_t to, char *at) {
  size_t before;
  char *p;
  if ((p = pages(at, size)) == NULL || ((uintptr_t)p & (to - 1)) == 0) return p;
  munmap(p, size);
  if ((p = pages(NULL, size + to)) == NULL) return NULL;
  before = (size_t)(-(uintptr_t)p & (to - 1));
  if (before > 0) munmap(p, before);
  if (before < to) munmap(p + before + size, to - before);
  return p + before;
}


char *luaN_map (size_t size, size_t to, char *at) {
  char *p = map(size, to, at);
  if (p == NULL && __atomic_load_n(&spares.bytes, __ATOMIC_RELAXED) > 0) {
    luaN_freespares(0, 1);
    p = map(size, to, at);
  }
  return p;
}


void luaN_unmap (char *p, size_t size) {
  if (munmap(p, size) != 0) madvise(p, size, MADV_DONTNEED);
}

/* }===================================================================== */


/* {== spare mappings =================================================== */

static char *mapped_take (size_t units) {
  Spare *s = spares.of[units];
  spares.of[units] = s->next;
  __atomic_store_n(&spares.bytes, spares.bytes - units * LUAN_BLOCK, __ATOMIC_RELAXED);
  return (char *)s;
}


/* Unmaps spare mappings, the largest first, until at most 'most' bytes are left. */
static void shrink (size_t most) {
  size_t n;
  for (n = LUAN_MAPUNITS; n > 0; n--)
    while (spares.of[n] != NULL && spares.bytes > most)
      luaN_unmap(mapped_take(n), n * LUAN_BLOCK);
}


char *luaN_takespare (size_t *size) {
  char *p = NULL;
  size_t n = *size / LUAN_BLOCK;
  if (n > LUAN_MAPUNITS || !luaN_hold(&spares.busy)) return NULL;
  spares.requested += *size;
  while (n > 0 && spares.of[n] == NULL) n--;
  if (n > 0) {
    p = mapped_take(n);
    *size = n * LUAN_BLOCK;
  }
  luaN_letgo(&spares.busy);
  return p;
}


int luaN_closespares (unsigned ms) {
  int again;
  if (!luaN_hold(&spares.busy)) return 0;
  again = spares.closed && ms - spares.at < LUAN_UNUSED_MS;
  spares.room = !again ? 0 : (spares.requested < MOST) ? spares.requested : MOST;
  shrink(spares.room);
  spares.requested = 0;
  spares.at = ms;
  spares.closed = 1;
  luaN_letgo(&spares.busy);
  return again;
}


void luaN_unmapclosed (char *p, size_t size) {
  size_t n = size / LUAN_BLOCK;
  int stays = 0;
  if (n <= LUAN_MAPUNITS && luaN_hold(&spares.busy)) {
    if (spares.bytes + size <= spares.room) {
      Spare *s = (Spare *)(void *)p;
      s->next = spares.of[n];
      spares.of[n] = s;
      __atomic_store_n(&spares.bytes, spares.bytes + size, __ATOMIC_RELAXED);
      stays = 1;
    }
    luaN_letgo(&spares.busy);
  }
  if (!stays) luaN_unmap(p, size);
}


void luaN_freespares (unsigned ms, int now) {
  if (__atomic_load_n(&spares.bytes, __ATOMIC_RELAXED) == 0 || !luaN_hold(&spares.busy)) return;
  if (now || ms - spares.at >= LUAN_UNUSED_MS) shrink(0);
  luaN_letgo(&spares.busy);
}

/* }===================================================================== */
