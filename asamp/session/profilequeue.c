/* SPDX-License-Identifier: MIT */
/* Functions of the queue that all parts of a profile use (profilequeue.h). */
#include "profilequeue.h"

/* The profile whose writer this OS thread is waking; NULL: none. */
static OFTHREAD const Profile *volatile waking;

/* Does nothing in a signal handler that has interrupted this function for the same profile:
   pthread_cond_signal takes an internal lock, for which the handler would wait forever. */
void profilequeue_wake (Profile *p) {
  const Profile *before = waking;
  if (before == p)
    return;
  waking = p;
  pthread_cond_signal(&p->work);
  waking = before;
}

void profilequeue_totals (const Profile *p, ProfileTotals *t) {
  t->samples = p->taken.samples - p->lost.samples;
  t->timesamples = p->taken.timesamples - p->lost.timesamples;
  t->missing = p->lost;
  t->lost = p->lost.samples + p->lost.timesamples;
  t->all = profilequeue_lost(p);
  t->bytes = p->ring != NULL && !__atomic_load_n(&p->done, __ATOMIC_ACQUIRE)
           ? ring_bytes(p->ring)
           : __atomic_load_n(&p->file.written, __ATOMIC_RELAXED);
  t->error = p->error != 0 ? p->error : p->stalled;
}
