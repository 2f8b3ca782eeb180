/* SPDX-License-Identifier: MIT */
/*
** The samples and allocations of a Firefox profile. See firefoxrows.h.
*/
#include "firefoxrows.h"

#include <stdio.h>
#include <string.h>

/* Index of the stack that ends in a leaf. */
static uint64_t leafstack (const FirefoxFile *w, int64_t leaf) {
  return (uint64_t)leaf + w->r->tree.n - 1;
}

/* A column of times: sums of the spill's differences. */
static void times (FirefoxFile *w, Spill *s, uint64_t n) {
  uint64_t i, time = 0;
  spill_rewind(s);
  firefoxcolumns_begin(w, "time");
  for (i = 0; i < n; i++) {
    firefoxcolumns_comma(w, i);
    time += (uint64_t)spill_take(s);
    output_ms(w->o, w->stretch == 1 ? (int64_t)time
                                    : (int64_t)((double)time * w->stretch));
  }
  firefoxcolumns_end(w);
}

/*
** The CPU time from one row to the next: that of the sample, of whose periods there may
** be several. Of the wall clock it is not known.
*/
static void cpudelta (FirefoxFile *w) {
  uint64_t i;
  spill_rewind(&w->f->tickweight);
  firefoxcolumns_begin(w, "threadCPUDelta");
  for (i = 0; i < w->f->timerows; i++) {
    firefoxcolumns_comma(w, i);
    output_int(w->o, spill_take(&w->f->tickweight));
  }
  firefoxcolumns_end(w);
}

static void timesamples (FirefoxFile *w) {
  Firefox *f = w->f;
  uint64_t i;
  times(w, &f->tick, f->timerows);
  spill_rewind(&f->tickstack);
  firefoxcolumns_begin(w, "stack");
  for (i = 0; i < f->timerows; i++) {
    firefoxcolumns_comma(w, i);
    firefoxcolumns_ornull(w, (uint64_t)spill_take(&f->tickstack) - 1, UINT64_MAX);
  }
  firefoxcolumns_end(w);
  spill_rewind(&f->tickweight);
  firefoxcolumns_begin(w, "weight");
  for (i = 0; i < f->timerows; i++) {
    int64_t ns = spill_take(&f->tickweight);
    firefoxcolumns_comma(w, i);
    if (ns == 0)  /* the period is not known: a sample is one */
      output_char(w->o, '1');
    else if (ns % 1000 == 0)
      output_ms(w->o, ns / 1000);
    else {
      char text[32];
      sprintf(text, "%.6f", (double)ns / 1e6);
      output_text(w->o, text);
    }
  }
  firefoxcolumns_end(w);
  if (w->r->timeperiod > 0 && !w->r->wall)
    cpudelta(w);
  output_text(w->o, w->r->timeperiod > 0 ? "\"weightType\":\"tracing-ms\",\n"
                                         : "\"weightType\":\"samples\",\n");
  firefoxcolumns_length(w, f->timerows);
}

/* A row of the track of a profile without samples of time. */
typedef struct TrackRow {
  int more;            /* there is such a row */
  uint64_t time;
  int64_t leaf, bytes;
} TrackRow;

/* What of the allocation rows has been gone through. */
typedef struct Track {
  uint64_t i, time;
  TrackRow next;
} Track;

static void nextrow (Firefox *f, Track *t) {
  t->next.more = 0;
  while (t->i < f->rows && !t->next.more) {
    t->time += (uint64_t)spill_take(&f->time);
    t->next.leaf = spill_take(&f->stack);
    t->next.bytes = spill_take(&f->weight);
    t->next.time = t->time;
    t->next.more = t->next.bytes > 0;
    t->i++;
  }
}

static void starttrack (Firefox *f, Track *t) {
  memset(t, 0, sizeof(*t));
  spill_rewind(&f->time);
  spill_rewind(&f->stack);
  spill_rewind(&f->weight);
  nextrow(f, t);
}

/* Equal stacks within a millisecond are one row. */
static int trackrow (Firefox *f, Track *t, TrackRow *row) {
  *row = t->next;
  if (!row->more)
    return 0;
  for (;;) {
    nextrow(f, t);
    if (!t->next.more || t->next.leaf != row->leaf ||
        t->next.time - row->time >= 1000)
      return 1;
    row->bytes += t->next.bytes;
  }
}

/* Allocations as samples, so that the thread's track shows something. */
static void track (FirefoxFile *w) {
  static const char *const names[] = {"time", "stack", "weight"};
  Firefox *f = w->f;
  uint64_t i = 0;
  int column;
  for (column = 0; column < 3; column++) {
    Track t;
    TrackRow row;
    starttrack(f, &t);
    firefoxcolumns_begin(w, names[column]);
    for (i = 0; trackrow(f, &t, &row); i++) {
      firefoxcolumns_comma(w, i);
      if (column == 0)
        output_ms(w->o, (int64_t)row.time);
      else if (column == 1)
        output_uint(w->o, leafstack(w, row.leaf));
      else
        output_int(w->o, row.bytes * (int64_t)w->r->scale);
    }
    firefoxcolumns_end(w);
  }
  output_text(w->o, "\"weightType\":\"bytes\",\n");
  firefoxcolumns_length(w, i);
}

/* Of a profile without samples: nothing at its beginning and at its end, for a viewer
   that looks for the first and the last one. */
static void nothing (FirefoxFile *w) {
  output_text(w->o, "\"time\":[0,");
  output_ms(w->o, (int64_t)w->r->duration);
  output_text(w->o, "],\n\"stack\":[null,null],\n\"weight\":[0,0],\n"
                    "\"weightType\":\"bytes\",\n");
  firefoxcolumns_length(w, 2);
}

void firefoxrows_samples (FirefoxFile *w) {
  if (w->f->timerows > 0)
    timesamples(w);
  else if (w->f->rows > 0)
    track(w);
  else
    nothing(w);
}

void firefoxrows_allocations (FirefoxFile *w) {
  Firefox *f = w->f;
  uint64_t i;
  times(w, &f->time, f->rows);
  spill_rewind(&f->stack);
  firefoxcolumns_begin(w, "stack");
  for (i = 0; i < f->rows; i++) {
    firefoxcolumns_comma(w, i);
    output_uint(w->o, leafstack(w, spill_take(&f->stack)));
  }
  firefoxcolumns_end(w);
  spill_rewind(&f->weight);
  firefoxcolumns_begin(w, "weight");
  for (i = 0; i < f->rows; i++) {
    firefoxcolumns_comma(w, i);
    output_int(w->o, spill_take(&f->weight) * (int64_t)w->r->scale);
  }
  firefoxcolumns_end(w);
  output_text(w->o, "\"weightType\":\"bytes\",\n");
  spill_rewind(&f->memory);
  firefoxcolumns_begin(w, "memoryAddress");
  for (i = 0; i < f->rows; i++) {
    firefoxcolumns_comma(w, i);
    output_int(w->o, spill_take(&f->memory));
  }
  firefoxcolumns_end(w);
  firefoxcolumns_same(w, "threadId", "1", f->rows);
  firefoxcolumns_length(w, f->rows);
}

void firefoxrows_held (FirefoxFile *w) {
  const HeldStack *h = &w->held;
  size_t before = w->r->tree.n + w->f->leaves.nsites - 1, i;
  firefoxcolumns_begin(w, "time");
  for (i = 0; i < h->nrows; i++) {
    firefoxcolumns_comma(w, i);
    output_ms(w->o, (int64_t)w->r->duration);
  }
  firefoxcolumns_end(w);
  firefoxcolumns_begin(w, "stack");
  for (i = 0; i < h->nrows; i++) {
    firefoxcolumns_comma(w, i);
    output_uint(w->o, before + h->rows[i].node - 1);
  }
  firefoxcolumns_end(w);
  firefoxcolumns_begin(w, "weight");
  for (i = 0; i < h->nrows; i++) {
    firefoxcolumns_comma(w, i);
    output_uint(w->o, h->rows[i].bytes);
  }
  firefoxcolumns_end(w);
  output_text(w->o, "\"weightType\":\"bytes\",\n");
  firefoxcolumns_length(w, h->nrows);
}
