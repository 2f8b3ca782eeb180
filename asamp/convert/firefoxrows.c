/* SPDX-License-Identifier: MIT */
/* The samples and allocations of a Firefox profile (firefoxrows.h). */
#include "firefoxrows.h"
#include "decimal.h"

#include <stdio.h>
#include <string.h>

/* Returns the number of an allocation's stack in the file. 'leaf' is the index of the stack in
   Firefox.leaves. */
static uint64_t leafstack (const FirefoxFile *w, int64_t leaf) {
  return (uint64_t)leaf + firefoxstacks_count(&w->stacks);
}

/* A function that writes the value of one row of a column. */
typedef void Cell (FirefoxFile *w, int64_t value);

/* Writes a column of a table. For each of n rows, 's' has the value and 'whose' the tag (number of
   a Lua state or script, tags.h). Leaves out rows whose tag is not in w->group, the group of Lua
   states that is being written. */
static void column (FirefoxFile *w, const char *name, Spill *s, Spill *whose, uint64_t n,
                    Cell *cell) {
  uint64_t i, k = 0;
  spill_rewind(s);
  spill_rewind(whose);
  firefoxcolumns_start(w, name);
  for (i = 0; i < n; i++) {
    int64_t value = spill_take(s);
    if (firefoxcolumns_mine(w, spill_take(whose))) {
      firefoxcolumns_comma(w, k++);
      cell(w, value);
    }
  }
  firefoxcolumns_end(w);
}

/* Writes the column "time" like 'column', in ms multiplied by w->stretch. 's' has n times in us,
   each as the difference to the time of the previous row. */
static void times (FirefoxFile *w, Spill *s, Spill *whose, uint64_t n) {
  uint64_t i, k = 0, time = 0;
  spill_rewind(s);
  spill_rewind(whose);
  firefoxcolumns_start(w, "time");
  for (i = 0; i < n; i++) {
    time += (uint64_t)spill_take(s);
    if (!firefoxcolumns_mine(w, spill_take(whose)))
      continue;
    firefoxcolumns_comma(w, k++);
    output_ms(w->o, w->stretch == 1 ? (int64_t)time
                                    : (int64_t)((double)time * w->stretch));
  }
  firefoxcolumns_end(w);
}

static void firefoxrows_number (FirefoxFile *w, int64_t n) {
  output_int(w->o, n);
}

static void leafcell (FirefoxFile *w, int64_t leaf) {
  output_uint(w->o, leafstack(w, leaf));
}

static void bytescell (FirefoxFile *w, int64_t n) {
  output_int(w->o, n * (int64_t)w->r->scale);
}

static void tickcell (FirefoxFile *w, int64_t site) {
  const Site *s = &w->f->ticksites.sites[site];
  firefoxcolumns_ornull(w, firefoxstacks_of(&w->stacks, s->node, s->tag), FIREFOXSTACKS_NONE);
}

static void weightcell (FirefoxFile *w, int64_t ns) {
  if (ns == 0)  /* the sampling period is unknown: each sample has the weight 1 */
    output_char(w->o, '1');
  else if (ns % 1000 == 0)
    output_ms(w->o, ns / 1000);
  else {
    char text[32];
    decimal_print(text, sizeof(text), "%.6f", (double)ns / 1e6);
    output_text(w->o, text);
  }
}

/* Writes the table of the time samples. */
static void timesamples (FirefoxFile *w) {
  Firefox *f = w->f;
  times(w, &f->tick, &f->tickwhose, f->timerows);
  column(w, "stack", &f->tickstack, &f->tickwhose, f->timerows, tickcell);
  column(w, "weight", &f->tickweight, &f->tickwhose, f->timerows, weightcell);
  /* The column threadCPUDelta has the CPU time since the previous row. Samples of wall time do not
     show how much CPU time was used. */
  if (w->r->timeperiod > 0 && !w->r->wall)
    column(w, "threadCPUDelta", &f->tickweight, &f->tickwhose, f->timerows, firefoxrows_number);
  output_text(w->o, w->r->timeperiod > 0 ? "\"weightType\":\"tracing-ms\",\n"
                                         : "\"weightType\":\"samples\",\n");
  firefoxcolumns_length(w, f->of[w->group].timerows);
}

/* A row of an allocation, or the sum of several such rows. In a profile without time samples, each
   sum is written as a sample. */
typedef struct TrackRow {
  int more;            /* 1: the struct has a row; 0: there are no more rows */
  uint64_t time;       /* time of the first row, us since the start */
  int64_t leaf, bytes;
} TrackRow;

/* Progress of the reading of allocation rows. 'i': number of rows read; 'time': time of the last
   row read, us. */
typedef struct Track {
  uint64_t i, time;
  /* The last row read. It is in no sample yet: trackrow adds it to the current sample, or starts
     the next sample with it. */
  TrackRow next;
} Track;

/* Reads the next row of an allocation in one of the Lua states whose track is being written
   (w->group, tags.h). Skips rows of deaths, whose bytes are negative. */
static void nextrow (const FirefoxFile *w, Track *t) {
  Firefox *f = w->f;
  t->next.more = 0;
  while (t->i < f->rows && !t->next.more) {
    t->time += (uint64_t)spill_take(&f->time);
    t->next.leaf = spill_take(&f->stack);
    t->next.bytes = spill_take(&f->weight);
    t->next.time = t->time;
    t->next.more = firefoxcolumns_mine(w, spill_take(&f->whose)) && t->next.bytes > 0;
    t->i++;
  }
}

/* Initializes *t to the first allocation row. */
static void starttrack (const FirefoxFile *w, Track *t) {
  Firefox *f = w->f;
  memset(t, 0, sizeof(*t));
  spill_rewind(&f->time);
  spill_rewind(&f->stack);
  spill_rewind(&f->weight);
  spill_rewind(&f->whose);
  nextrow(w, t);
}

/* Sets *row to the next sample: the sum of successive rows that have the same stack and are less
   than 1 ms after the first one. Returns 0 if there are no more rows. */
static int trackrow (const FirefoxFile *w, Track *t, TrackRow *row) {
  *row = t->next;
  if (!row->more)
    return 0;
  for (;;) {
    nextrow(w, t);
    if (!t->next.more || t->next.leaf != row->leaf || t->next.time - row->time >= 1000)
      return 1;
    row->bytes += t->next.bytes;
  }
}

/* Writes the allocations as samples, because without samples the Firefox Profiler shows an empty
   track. */
static void track (FirefoxFile *w) {
  static const char *const names[] = {"time", "stack", "weight"};
  uint64_t i = 0;
  int c;
  for (c = 0; c < 3; c++) {
    Track t;
    TrackRow row;
    starttrack(w, &t);
    firefoxcolumns_start(w, names[c]);
    for (i = 0; trackrow(w, &t, &row); i++) {
      firefoxcolumns_comma(w, i);
      if (c == 0)
        output_ms(w->o, (int64_t)row.time);
      else if (c == 1)
        output_uint(w->o, leafstack(w, row.leaf));
      else
        output_int(w->o, row.bytes * (int64_t)w->r->scale);
    }
    firefoxcolumns_end(w);
  }
  output_text(w->o, "\"weightType\":\"bytes\",\n");
  firefoxcolumns_length(w, i);
}

/* Writes two samples without a stack, at the start and at the end of the profile: the viewer
   requires a first and a last sample. */
static void firefoxrows_nothing (FirefoxFile *w) {
  output_text(w->o, "\"time\":[0,");
  output_ms(w->o, (int64_t)w->r->duration);
  output_text(w->o, "],\n\"stack\":[null,null],\n\"weight\":[0,0],\n"
                    "\"weightType\":\"bytes\",\n");
  firefoxcolumns_length(w, 2);
}

void firefoxrows_samples (FirefoxFile *w) {
  const FirefoxRows *of = &w->f->of[w->group];
  if (w->f->timerows > 0)
    timesamples(w);
  else if (of->rows > 0)
    track(w);
  else
    firefoxrows_nothing(w);
}

void firefoxrows_allocations (FirefoxFile *w, uint32_t tid) {
  Firefox *f = w->f;
  char text[16];
  times(w, &f->time, &f->whose, f->rows);
  column(w, "stack", &f->stack, &f->whose, f->rows, leafcell);
  column(w, "weight", &f->weight, &f->whose, f->rows, bytescell);
  output_text(w->o, "\"weightType\":\"bytes\",\n");
  column(w, "memoryAddress", &f->memory, &f->whose, f->rows, firefoxrows_number);
  sprintf(text, "%lu", (unsigned long)tid);
  firefoxcolumns_same(w, "threadId", text, f->of[w->group].rows);
  firefoxcolumns_length(w, f->of[w->group].rows);
}

void firefoxrows_held (FirefoxFile *w) {
  const HeldStack *h = &w->held;
  size_t before = firefoxstacks_count(&w->stacks) + w->f->leaves.nsites, i;
  firefoxcolumns_start(w, "time");
  for (i = 0; i < h->nrows; i++) {
    firefoxcolumns_comma(w, i);
    output_ms(w->o, (int64_t)w->r->duration);
  }
  firefoxcolumns_end(w);
  firefoxcolumns_start(w, "stack");
  for (i = 0; i < h->nrows; i++) {
    firefoxcolumns_comma(w, i);
    output_uint(w->o, before + h->rows[i].node - 1);
  }
  firefoxcolumns_end(w);
  firefoxcolumns_start(w, "weight");
  for (i = 0; i < h->nrows; i++) {
    firefoxcolumns_comma(w, i);
    output_uint(w->o, h->rows[i].bytes);
  }
  firefoxcolumns_end(w);
  output_text(w->o, "\"weightType\":\"bytes\",\n");
  firefoxcolumns_length(w, h->nrows);
}
