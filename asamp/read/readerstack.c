/* SPDX-License-Identifier: MIT */
/* Stack and object records (readerstack.h). */
#include "readerstack.h"
#include "bytes.h"
#include "list.h"
#include "readeremit.h"
#include "sample.h"

#include <string.h>

/* Converts seconds of the monotonic clock to us since the start. If the result is before the last
   sample, returns the time of the last sample. */
static uint64_t readerstack_timeof (ReaderState *s, double seconds) {
  const ReadProfile *r = s->r;
  uint64_t us = 0;
  if (seconds > 0 && seconds < (double)READER_MAXTIME / 1e6)
    us = (uint64_t)(seconds * 1e6 + 0.5);
  us = us > r->clock ? us - r->clock : 0;
  return us > s->last ? us : s->last;
}

void readerstack_giveup (ReaderState *s) {
  for (; s->runfirst < s->nruns; s->runfirst++) {
    const Run *run = &s->runs[s->runfirst];
    ReadSample sample;
    memset(&sample, 0, sizeof(sample));
    sample.time = run->time > s->last ? run->time : s->last;
    sample.count = run->copies;
    sample.thread = run->thread;
    sample.node = run->node;
    sample.kind = READER_TIMESAMPLE;
    readerstate_of(s, run->thread);
    sample.period = readerstate_timeperiod(s);
    if (run->type != READER_TIMERUN && profile_iscopy((int)run->type)) {
      sample.kind = run->type - COPY_NEW;
      sample.period = readerstate_period(s);
      s->r->undetailed += run->copies;
      readeremit_copy(s, &sample);
      continue;
    }
    if (run->type != READER_TIMERUN) {
      sample.kind = run->type == 0 && s->r->version >= 7
                    ? READER_UNKNOWN : readerstate_kind(s, run->type, 0);
      sample.period = readerstate_period(s);
    }
    s->last = sample.time;
    s->r->undetailed += run->copies;
    readeremit_sample(s, &sample);
  }
  s->runfirst = s->nruns = 0;
}

/* Queues a stack until the text that describes its sample is read: adds it to the last run of equal
   stacks, or starts a run. If the queue has READER_MAXRUNS runs, first delivers all queued stacks
   as samples without details (readerstack_giveup). */
static void addrun (ReaderState *s, const Run *new) {
  Run *run = s->nruns > s->runfirst ? &s->runs[s->nruns - 1] : NULL;
  if (run != NULL && run->node == new->node && run->type == new->type &&
      run->time == new->time && run->thread == new->thread) {
    run->copies++;
    return;
  }
  if (s->nruns == READER_MAXRUNS) {
    size_t i;
    for (i = s->runfirst; i < s->nruns; i++)
      s->r->left[LEFT_RUNS] += s->runs[i].copies;
    readerstack_giveup(s);
  }
  if (list_grow(&s->runs, s->nruns, &s->runsize, sizeof(*s->runs)))
    s->runs[s->nruns++] = *new;
  else
    s->failed = 1;
}

/* Delivers a stack as an allocation sample ('allocation' 1) or a time sample, in a file of another
   writer. If the file has no times, the time of a sample is the time of the previous sample plus
   the period of time samples (1 ms if the period is unknown or below 1 us). */
static void foreign (ReaderState *s, uint32_t node, uint64_t thread,
                     double seconds, int allocation) {
  ReadProfile *r = s->r;
  ReadSample sample;
  uint64_t us = r->timeperiod / 1000;
  memset(&sample, 0, sizeof(sample));
  r->timed = r->version >= 7;
  if (r->timed)
    s->last = readerstack_timeof(s, seconds);
  else if (r->samples + r->timesamples > 0 && s->last < READER_MAXTIME)
    s->last += us > 0 ? us : 1000;
  sample.time = s->last;
  sample.count = 1;
  sample.thread = thread;
  sample.node = node;
  sample.kind = allocation ? READER_UNKNOWN : READER_TIMESAMPLE;
  sample.period = allocation ? 1 : r->timeperiod;
  readeremit_sample(s, &sample);
}

void readerstack_add (ReaderState *s, uint32_t node, uint32_t type,
                        double seconds, uint64_t thread, int allocation) {
  if (s->r->own) {
    Run run;
    run.node = node;
    run.type = allocation ? type : READER_TIMERUN;
    run.time = s->r->version >= 7 ? readerstack_timeof(s, seconds) : 0;
    run.thread = thread;
    run.copies = 1;
    addrun(s, &run);
  }
  else
    foreign(s, node, thread, seconds, allocation);
}

/* ------------------------------------------------------------- objects -- */

/* Returns a statistic of an object record: bytes in use, reserved or resident ('which' 0, 1, 2); 0:
   missing. words[first] is the first statistic. */
static uint64_t statat (const ReaderState *s, const unsigned char *words, size_t first, int which) {
  return s->stat[which] >= 0 ? bytes_getword(words + 8 * (first + (size_t)s->stat[which]))
                             : 0;
}

/* Reads an object record: one word for each sampled object, newest first, then one word for each
   statistic. Meta records gc_stats__N name the statistics. Before these meta records are read, the
   number of statistics is unknown. In this case reads as many words as there are samples with
   unknown survival. */
void readerstack_objects (ReaderState *s, double seconds, const unsigned char *words, size_t n) {
  ReadProfile *r = s->r;
  ReadCollection c;
  size_t open = s->of->open.n + s->of->open.passed;
  size_t nobjects = s->nstats > 0 ? (n > s->nstats ? n - s->nstats : 0)
                                  : (n < open ? n : open);
  size_t i;
  if (r->own)
    /* in asamp's files, the texts of the batches have the same data in more detail
       (readerbatch.h) */
    return;
  r->fates = 1;
  memset(&c, 0, sizeof(c));
  c.time = readerstack_timeof(s, seconds);
  if (s->nstats > 0 && n >= s->nstats) {
    c.inuse = statat(s, words, nobjects, 0);
    c.held = statat(s, words, nobjects, 1);
    c.rss = statat(s, words, nobjects, 2);
  }
  for (i = nobjects; i-- > 0; ) {  /* from the oldest sample to the newest */
    uint64_t w = bytes_getword(words + 8 * i);
    if (s->of->open.passed == 0 && s->of->open.n > 0) {
      uint32_t kind = readerstate_kind(s, w >> 2, 0);
      ReadSample *oldest = fifo_oldest(&s->of->open);
      oldest->kind = kind;
      oldest->outside = (w & 2) != 0;
    }
    readeremit_decide(s, (int)(w & 1), 0, c.time);
  }
  readeremit_collection(s, &c);
}
