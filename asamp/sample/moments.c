/* SPDX-License-Identifier: MIT */
/* Passes ticks from a signal handler to the program's thread (moments.h). */
#include "moments.h"

#include <stdlib.h>
#include <string.h>

#define HEAD	(sizeof(Moment) / sizeof(uint64_t))	/* size of a tick without native frames,
                                                           words of 8 bytes */

int moments_open (Moments *m, size_t words) {
  memset(m, 0, sizeof(*m));
  m->words = words;
  m->buffer[0] = malloc(words * sizeof(uint64_t));
  m->buffer[1] = malloc(words * sizeof(uint64_t));
  if (m->buffer[0] != NULL && m->buffer[1] != NULL) return 1;
  moments_close(m);
  return 0;
}

void moments_close (Moments *m) {
  free(m->buffer[0]);
  free(m->buffer[1]);
  memset(m, 0, sizeof(*m));
}

static Moment *at (const Moments *m, unsigned b, size_t i) {
  return (Moment *)(void *)(m->buffer[b] + i);
}

static int sameframe (const Moment *a, const Moment *b) {
  return a->L == b->L && a->ci == b->ci && a->collecting == b->collecting &&
         a->label == b->label;
}

/* Returns the first tick in buffer b that has the same frames ('native': those of e), kind of
   collection and label as e, or NULL. */
static Moment *equal (const Moments *m, unsigned b, const Moment *e,
                      void *const *native) {
  size_t i;
  for (i = 0; i < m->used[b]; i += HEAD + at(m, b, i)->n) {
    Moment *o = at(m, b, i);
    if (o->n == e->n && sameframe(o, e) &&
        memcmp(moment_native(o), native, e->n * sizeof(void *)) == 0)
      return o;
  }
  return NULL;
}

/* Returns the last tick in buffer b that has the same innermost Lua frame, kind of collection and
   label as e, or NULL. */
static Moment *kin (const Moments *m, unsigned b, const Moment *e) {
  Moment *found = NULL;
  size_t i;
  for (i = 0; i < m->used[b]; i += HEAD + at(m, b, i)->n)
    if (sameframe(at(m, b, i), e)) found = at(m, b, i);
  return found;
}

void moments_add (Moments *m, const Moment *e, void *const *native) {
  unsigned b = m->current;
  size_t size = HEAD + e->n;
  Moment *o = NULL;
  if (m->used[b] > m->words / 2) o = equal(m, b, e, native);
  if (o == NULL && m->used[b] + size > m->words) {
    o = kin(m, b, e);
    if (o == NULL) {
      m->lost += e->count;
      return;
    }
  }
  if (o != NULL) o->count += e->count;
  else {
    o = at(m, b, m->used[b]);
    *o = *e;
    memcpy(moment_native(o), native, e->n * sizeof(void *));
    m->used[b] += size;
  }
}

void moments_take (Moments *m, void (*f) (void *ud, Moment *e),
                   void *ud) {
  unsigned b = m->current;
  size_t i;
  m->current = b ^ 1;  /* from now on, the signal handler fills the other buffer */
  __atomic_signal_fence(__ATOMIC_SEQ_CST);  /* m->used[b] is read after this line, because the
                                               handler may have increased it until now */
  for (i = 0; i < m->used[b]; i += HEAD + at(m, b, i)->n)
    f(ud, at(m, b, i));
  m->used[b] = 0;
}
