/* SPDX-License-Identifier: MIT */
/* History of collections (course.h). */
#include "course.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

int course_init (Course *c) {
  memset(c, 0, sizeof(*c));
  c->group = 1;
  c->pauses = calloc(COURSE_SLOTS, sizeof(*c->pauses));
  return c->pauses != NULL;
}

void course_free (Course *c) {
  free(c->spans);
  free(c->pauses);
  memset(c, 0, sizeof(*c));
}

/* -------------------------------------------------------------- pauses -- */

/* Returns the slot of a pause in the histogram. Up to 1,023 us, each number of us has its own slot.
   Two longer pauses share a slot if, as binary numbers of us, they have the same length and the
   same first 10 digits. */
static size_t course_slotof (uint64_t us) {
  unsigned shift = 0;
  size_t slot;
  while (us >> shift >= 1024)
    shift++;
  slot = shift * 512 + (size_t)(us >> shift);
  return slot < COURSE_SLOTS ? slot : COURSE_SLOTS - 1;
}

/* Returns the longest pause, in us, that is counted in this slot of the histogram. */
static uint64_t slottop (size_t slot) {
  unsigned shift = slot < 1024 ? 0 : (unsigned)(slot / 512 - 1);
  uint64_t bits = slot - shift * (size_t)512;
  return ((bits + 1) << shift) - 1;
}

uint64_t course_quantile (const Course *c, double share) {
  uint64_t wanted = (uint64_t)(share * (double)c->collections), seen = 0;
  size_t i;
  if ((double)wanted < share * (double)c->collections || wanted == 0)
    wanted++;
  for (i = 0; i < COURSE_SLOTS; i++) {
    seen += c->pauses[i];
    if (seen >= wanted) {
      uint64_t top = slottop(i);
      return top < c->longest ? top : c->longest;
    }
  }
  return c->longest;
}

/* --------------------------------------------------------------- spans -- */

static uint64_t more (uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

/* Initializes *s as the span of the timeline that has only this collection. */
static void spanof (Span *s, const ReadCollection *one) {
  memset(s, 0, sizeof(*s));
  s->time = one->time;
  s->duration = one->duration + one->left;
  s->processor = one->processor + one->left;
  s->slices = one->slices;
  s->mutator = one->mutator;
  s->left = one->minors + one->majors;
  s->inuse = s->least = one->inuse;
  s->held = one->held;
  s->rss = one->rss;
  s->tenured = one->tenured;
  s->planned = one->planned;
  s->charged = one->charged;
  s->decided = one->decided;
  s->survived = one->survived;
  s->state = one->state;
  memcpy(s->looked, one->looked, sizeof(s->looked));
  if (one->major) {
    s->majors = 1;
    s->majorpause = one->duration;
  }
  else {
    s->minors = 1;
    s->minorpause = one->duration;
  }
}

/* Adds the later span 'next' to the span s. */
static void join (Span *s, const Span *next) {
  s->time = next->time;
  s->duration += next->duration;
  s->processor += next->processor;
  s->slices += next->slices;
  s->mutator += next->mutator;
  s->inuse = more(s->inuse, next->inuse);
  s->held = more(s->held, next->held);
  s->rss = more(s->rss, next->rss);
  s->least = s->least < next->least ? s->least : next->least;
  s->tenured += next->tenured;
  s->planned += next->planned;
  s->charged += next->charged;
  s->decided += next->decided;
  s->survived += next->survived;
  if (more(next->minorpause, next->majorpause) > more(s->minorpause, s->majorpause))
    memcpy(s->looked, next->looked, sizeof(s->looked));
  s->minorpause = more(s->minorpause, next->minorpause);
  s->majorpause = more(s->majorpause, next->majorpause);
  s->minors += next->minors;
  s->majors += next->majors;
  s->left += next->left;
  s->state = next->state;
}

/* Merges each pair of adjacent spans (groups of consecutive collections in the timeline) into one
   span. That halves the number of spans. Call it when there are COURSE_MOST spans, each with
   c->group collections. */
static void course_halve (Course *c) {
  size_t i;
  for (i = 0; i < c->n / 2; i++) {
    Span s = c->spans[2 * i];
    join(&s, &c->spans[2 * i + 1]);
    c->spans[i] = s;
  }
  c->n /= 2;
  c->group *= 2;
}

/* Adds the collection to the timeline: to the last span or, if this span has c->group collections,
   as a new span. Returns 0 if out of memory. */
static int place (Course *c, const ReadCollection *one) {
  Span s;
  spanof(&s, one);
  if (c->n > 0 && c->spans[c->n - 1].minors + c->spans[c->n - 1].majors < c->group) {
    join(&c->spans[c->n - 1], &s);
    return 1;
  }
  if (c->n == COURSE_MOST)
    course_halve(c);
  if (!list_grow(&c->spans, c->n, &c->size, sizeof(*c->spans)))
    return 0;
  c->spans[c->n++] = s;
  return 1;
}

int course_add (Course *c, const ReadCollection *one) {
  if (c->collections == 0)
    c->first = *one;
  if (c->collections == 0 || one->duration > c->longest) {
    c->longest = one->duration;
    c->longestat = one->time;
  }
  if (one->major) {
    c->lastmajor = one->time;
    c->majorprocessor += one->processor;
  }
  c->majorprocessor += one->slices;
  c->last = *one;
  c->collections++;
  c->total += one->duration + one->left;
  c->processor += one->processor + one->left;
  c->tenured += one->tenured;
  c->planned += one->planned;
  c->charged += one->charged;
  if (one->inuse > c->inuse)
    c->peak = one->time;
  c->inuse = more(c->inuse, one->inuse);
  c->held = more(c->held, one->held);
  c->rss = more(c->rss, one->rss);
  c->pauses[course_slotof(one->duration)]++;
  return place(c, one);
}

uint64_t course_grouped (const Course *c) {
  return c->group > 1 ? c->collections : 0;
}
