/* SPDX-License-Identifier: MIT */
/* Object records and their queue (objects.h). */
#include "objects.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of objects in a record. */
#define MAXOBJECTS	(VMPROF_MAXWORDS - OBJECTS_NSTATS)

/* Values of the statistic gc_state. The names are those that readers of VMProf files show. asamp
   writes SCANNING while no major collection runs. */
enum { SCANNING, MARKING, FINALIZING = 3 };

const char *const objects_stats[OBJECTS_NSTATS] = {
  "total_memory_used", "total_size_of_arenas", "VmRSS", "gc_state"
};

int objects_full (const Objects *o) {
  return o->n == OBJECTS_MAXOPEN;
}

void objects_add (Objects *o, int kind, int outside, uint32_t copies) {
  if (!list_grow(&o->open, o->n, &o->size, sizeof(*o->open))) {
    o->failed = 1;
    return;
  }
  o->open[o->n].word = (uint32_t)kind << 2 | (outside ? 2u : 0u);
  o->open[o->n++].copies = copies;
}

void objects_fates (Objects *o, const unsigned char *survived, size_t n) {
  size_t i;
  for (i = 0; i < n; i++) {
    if (o->early > 0)
      o->early--;
    else
      bytes_char(&o->fates, survived[i] != 0);
  }
  o->failed |= o->fates.failed;
}

/* Writes the next 'words' words of a record to 'to'. An object has a word for each copy of its
   sample's stack in the file. Starts with copy *copy of the object o->open[*i], and advances *copy
   and *i. Fills 'to' from its end, so that the newest object is first. */
static void putobjects (const Objects *o, unsigned char *to, size_t words,
                        size_t *i, uint32_t *copy) {
  while (words-- > 0) {
    uint32_t survived = *i < o->fates.n ? o->fates.data[*i] : 0;
    bytes_putword(to + 8 * words, o->open[*i].word | survived);
    if (++*copy == o->open[*i].copies) {
      *copy = 0;
      ++*i;
    }
  }
}

/* Returns the statistic gc_state of a record, with the names that readers of VMProf files show:
   FINALIZING after the last part of a major collection, else c->state. Exception: a VMProf
   converter fails if MARKING follows FINALIZING directly, so SCANNING (no major collection)
   replaces this MARKING. */
static int stateof (Objects *o, const ProfileCollection *c) {
  int state = c->state;
  if (c->major && state == SCANNING)
    state = FINALIZING;
  if (o->state == FINALIZING && state == MARKING)
    state = SCANNING;
  o->state = state;
  return state;
}

void objects_write (Objects *o, int all, uint64_t time, const ProfileCollection *c, Bytes *to) {
  size_t n = all || o->fates.n > o->n ? o->n : o->fates.n;
  uint64_t words = 0;
  uint32_t copy = 0;
  size_t i, at = 0;
  for (i = 0; i < n; i++)
    words += o->open[i].copies;
  while (words > 0) {
    size_t m = words < MAXOBJECTS ? (size_t)words : MAXOBJECTS;
    unsigned char *p;
    vmprof_timed(to, VMPROF_OBJECTS, (double)time / 1e9, m + OBJECTS_NSTATS);
    p = bytes_grow(to, 8 * m);
    if (p == NULL)
      break;
    putobjects(o, p, m, &at, &copy);
    vmprof_word(to, c->inuse);
    vmprof_word(to, c->held);
    vmprof_word(to, c->rss);
    vmprof_word(to, (uint64_t)stateof(o, c));
    words -= m;
  }
  if (all)  /* counts the undecided objects, which were written as dead, so that objects_fates
               ignores their outcomes, which arrive later */
    o->early += n - (o->fates.n < n ? o->fates.n : n);
  if (n > 0)
    memmove(o->open, o->open + n, (o->n - n) * sizeof(*o->open));
  o->n -= n;
  o->fates.n = 0;
}

void objects_free (Objects *o) {
  free(o->open);
  bytes_free(&o->fates);
  memset(o, 0, sizeof(*o));
}
