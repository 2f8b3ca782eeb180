/* SPDX-License-Identifier: MIT */
/* Composes the text records with the data of samples for which the VMProf format has no field, such
   as sizes and times (batch.h). */
#include "batch.h"

#include <string.h>

/* A batch is full if it has at least BATCH_SAMPLES samples or BATCH_BYTES bytes of events. */
#define BATCH_SAMPLES	16384
#define BATCH_BYTES	(512u * 1024)

/* ------------------------------------------------------------- columns -- */

/* Ends the current run of samples with the same label set: writes its length and the number of the
   set. */
static void endrun (Batch *b) {
  bytes_decimal(&b->labels, ' ', b->labelled);
  bytes_decimal(&b->labels, ' ', b->label);
  b->labelled = 0;
}

void batch_sample (Batch *b, uint64_t us, int timed, uint64_t count,
                   uint32_t copies, uint32_t label) {
  b->samples++;
  if (label != b->label && b->labelled > 0)
    endrun(b);
  b->label = label;
  b->labelled++;
  if (timed)
    bytes_decimal(&b->times, ' ', us - b->sampletime);
  b->sampletime = us;
  if (count != 1) {
    bytes_decimal(&b->counts, ' ', b->samples);
    bytes_decimal(&b->counts, ' ', count);
    bytes_decimal(&b->counts, ' ', copies);
  }
}

void batch_allocation (Batch *b, uint64_t size, int outside, int kind) {
  bytes_decimal(&b->sizes, ' ', size);
  if (kind >= 0)
    bytes_char(&b->kinds, (char)('a' + kind));
  if (outside)
    bytes_decimal(&b->outside, ' ', b->samples);
}

/* -------------------------------------------------------------- events -- */

/* Writes which samples survived, as lengths of runs: died, survived, died, ... If the first sample
   survived, the first length is 0. */
static void fateruns (Bytes *to, const unsigned char *survived, size_t n) {
  size_t i = 0;
  int fate = 0;
  bytes_char(to, 'f');
  while (i < n) {
    size_t from = i;
    while (i < n && (survived[i] != 0) == fate)
      i++;
    bytes_decimal(to, ' ', i - from);
    fate = !fate;
  }
  bytes_char(to, '\n');
}

static void classruns (Bytes *to, const uint32_t *classes, size_t n) {
  size_t i = 0;
  bytes_char(to, 'l');
  while (i < n) {
    size_t from = i;
    while (i < n && classes[i] == classes[from])
      i++;
    bytes_decimal(to, ' ', i - from);
    bytes_decimal(to, ' ', classes[from]);
  }
  bytes_char(to, '\n');
}

/* Writes the line "u", which shows the survivors whose deaths will not be reported. It has lengths
   of runs of successive survivors: those whose deaths will be reported (survived[i] = 1), then
   those whose deaths will not (2), and so on, alternately. Samples that died (0) do not count.
   Writes no line if no survived[i] is 2. */
static void unfollowedruns (Bytes *to, const unsigned char *survived,
                            size_t n) {
  uint64_t run = 0;
  size_t i;
  int not = 0;
  if (memchr(survived, 2, n) == NULL)
    return;
  bytes_char(to, 'u');
  for (i = 0; i < n; i++) {
    if (survived[i] == 0)
      continue;
    if ((survived[i] == 2) != not) {
      bytes_decimal(to, ' ', run);
      run = 0;
      not = !not;
    }
    run++;
  }
  if (not)
    bytes_decimal(to, ' ', run);
  bytes_char(to, '\n');
}

void batch_fates (Batch *b, const unsigned char *survived,
                  const uint32_t *classes, size_t n) {
  fateruns(&b->events, survived, n);
  if (classes != NULL)
    classruns(&b->events, classes, n);
  unfollowedruns(&b->events, survived, n);
}

void batch_deaths (Batch *b, const uint32_t *runs, size_t n) {
  size_t i;
  bytes_char(&b->events, 'd');
  for (i = 0; i < n; i++)
    bytes_decimal(&b->events, ' ', runs[i]);
  bytes_char(&b->events, '\n');
}

/* Writes the time of an event as the difference to the time of the previous event. */
static void eventtime (Batch *b, uint64_t us) {
  bytes_signed(&b->events, ' ', (int64_t)(us - b->eventtime));
  b->eventtime = us;
}

/* Returns the resident size in KiB. */
static int64_t rssof (const ProfileCollection *c) {
  return (int64_t)(c->rss / 1024);
}

/* Writes a collection as a line of numbers, without trailing zeros. To make the numbers small, some
   are differences to an expected value. The collection is expected to start at the time of the
   previous event and to use the CPU for its whole duration; the bytes in use, to grow by the
   tenured bytes; the reserved and the resident bytes, to stay the same; 'planned' of a minor
   collection to equal that of the previous minor collection; 'charged' to equal 'planned'. */
void batch_collection (Batch *b, uint64_t us, const ProfileCollection *c, uint32_t label,
                       ProfileCollection *before) {
  Bytes *to = &b->events;
  uint64_t duration = c->duration / 1000;
  const int64_t n[] = {
    (int64_t)(us - duration - b->eventtime), (int64_t)duration,
    (int64_t)c->tenured,
    (int64_t)(c->inuse - before->inuse - c->tenured),
    (int64_t)(c->held - before->held), rssof(c) - rssof(before),
    c->state, (int64_t)c->minors, (int64_t)c->majors, (int64_t)label,
    (int64_t)(c->major ? c->planned : c->planned - before->planned),
    (int64_t)(c->charged - c->planned),
    (int64_t)(c->processor / 1000 - duration),
    (int64_t)c->looked[LOOKED_REMEMBERED], (int64_t)c->looked[LOOKED_STACKS],
    (int64_t)c->looked[LOOKED_WEAK], (int64_t)c->looked[LOOKED_LISTED], (int64_t)(c->left / 1000),
    (int64_t)(c->slices / 1000), (int64_t)(c->mutator / 1000)
  };
  uint64_t planned = before->planned;
  size_t i, most = sizeof(n) / sizeof(n[0]);
  while (most > 0 && n[most - 1] == 0)
    most--;
  bytes_char(to, c->major ? 'G' : 'g');
  for (i = 0; i < most; i++)
    bytes_signed(to, ' ', n[i]);
  bytes_char(to, '\n');
  b->eventtime = us;
  *before = *c;
  if (c->major) before->planned = planned;
}

void batch_of (Batch *b, uint32_t id) {
  if (b->state == (uint64_t)id + 1)
    return;
  b->state = (uint64_t)id + 1;
  bytes_char(&b->events, 'S');
  bytes_decimal(&b->events, ' ', id);
  bytes_char(&b->events, '\n');
}

void batch_start (Batch *b, uint64_t us, uint32_t id) {
  b->state = (uint64_t)id + 1;
  bytes_char(&b->events, 'N');
  eventtime(b, us);
  bytes_decimal(&b->events, ' ', id);
  bytes_char(&b->events, '\n');
}

void batch_thread (Batch *b, uint32_t thread) {
  bytes_char(&b->events, 'T');
  bytes_decimal(&b->events, ' ', b->samples);
  bytes_decimal(&b->events, ' ', thread);
  bytes_char(&b->events, '\n');
}

void batch_called (Batch *b, const char *name, size_t n) {
  bytes_add(&b->events, "Y ", 2);
  bytes_text(&b->events, name, n, 1);
  bytes_char(&b->events, '\n');
}

void batch_allocated (Batch *b, uint64_t bytes) {
  bytes_char(&b->events, 'A');
  bytes_decimal(&b->events, ' ', bytes);
  bytes_char(&b->events, '\n');
}

void batch_end (Batch *b, uint64_t us, uint64_t bytes, uint64_t orphans) {
  bytes_char(&b->events, 'X');
  eventtime(b, us);
  bytes_decimal(&b->events, ' ', bytes);
  if (orphans > 0)
    bytes_decimal(&b->events, ' ', orphans);
  bytes_char(&b->events, '\n');
}

/* Writes a line "D", with deaths among the samples of a closed state. Does not change b->eventtime:
   old readers skip this line, so the next event's time must not be a difference to its time. */
void batch_orphans (Batch *b, uint64_t us, uint32_t id, const uint32_t *runs, size_t n) {
  size_t i;
  bytes_char(&b->events, 'D');
  bytes_signed(&b->events, ' ', (int64_t)(us - b->eventtime));
  bytes_decimal(&b->events, ' ', id);
  for (i = 0; i < n; i++)
    bytes_decimal(&b->events, ' ', runs[i]);
  bytes_char(&b->events, '\n');
}

void batch_period (Batch *b, uint64_t period) {
  bytes_char(&b->events, 'p');
  bytes_decimal(&b->events, ' ', b->samples);
  bytes_decimal(&b->events, ' ', period);
  bytes_char(&b->events, '\n');
}

void batch_timeperiod (Batch *b, uint64_t ns, int wall) {
  bytes_char(&b->events, 'q');
  bytes_decimal(&b->events, ' ', b->samples);
  bytes_decimal(&b->events, ' ', ns);
  bytes_add(&b->events, wall ? " w\n" : " c\n", 3);
}

void batch_class (Batch *b, uint32_t id, const char *name, size_t n) {
  bytes_char(&b->events, 'C');
  bytes_decimal(&b->events, ' ', id);
  bytes_char(&b->events, ' ');
  bytes_text(&b->events, name, n, 1);
  bytes_char(&b->events, '\n');
}

void batch_path (Batch *b, uint64_t id, uint32_t parent, const char *step) {
  bytes_char(&b->events, 'H');
  bytes_decimal(&b->events, ' ', id);
  bytes_decimal(&b->events, ' ', parent);
  bytes_char(&b->events, ' ');
  bytes_text(&b->events, step, strlen(step), 1);
  bytes_char(&b->events, '\n');
}

void batch_holders (Batch *b, const uint32_t *runs, size_t n) {
  size_t i;
  bytes_char(&b->events, 'h');
  for (i = 0; i < n; i++)
    bytes_decimal(&b->events, ' ', runs[i]);
  bytes_char(&b->events, '\n');
}

void batch_walk (Batch *b, uint64_t us, uint64_t duration) {
  bytes_char(&b->events, 'w');
  bytes_signed(&b->events, ' ', (int64_t)(us - b->eventtime));
  bytes_decimal(&b->events, ' ', duration);
  bytes_char(&b->events, '\n');
}

void batch_label (Batch *b, uint32_t set, const char *name, const char *value) {
  Bytes text = {0};
  bytes_text(&text, name, strlen(name), 1);
  bytes_char(&b->events, 'B');
  bytes_decimal(&b->events, ' ', set);
  bytes_decimal(&b->events, ' ', text.n);
  bytes_char(&b->events, ' ');
  bytes_add(&b->events, text.data, text.n);
  bytes_text(&b->events, value, strlen(value), 1);
  bytes_char(&b->events, '\n');
  b->events.failed |= text.failed;
  bytes_free(&text);
}

void batch_labelled (Batch *b, uint32_t set, uint64_t bytes) {
  bytes_char(&b->events, 'L');
  bytes_decimal(&b->events, ' ', set);
  bytes_decimal(&b->events, ' ', bytes);
  bytes_char(&b->events, '\n');
}

void batch_resident (Batch *b, uint64_t us, const char *what, size_t n, int64_t bytes,
                     const char *text, size_t m) {
  bytes_char(&b->events, 'r');
  bytes_decimal(&b->events, ' ', us);
  bytes_signed(&b->events, ' ', bytes);
  bytes_char(&b->events, ' ');
  bytes_text(&b->events, what, n, 1);
  if (m > 0) {
    bytes_char(&b->events, ' ');
    bytes_text(&b->events, text, m, 1);
  }
  bytes_char(&b->events, '\n');
}

void batch_mark (Batch *b, uint64_t us, const char *name, size_t namelength,
                 const char *value, size_t valuelength) {
  Bytes text = {0};
  bytes_text(&text, name, namelength, 1);
  bytes_char(&b->events, 'm');
  eventtime(b, us);
  bytes_decimal(&b->events, ' ', text.n);  /* length of the name in bytes; the name follows */
  bytes_char(&b->events, ' ');
  bytes_add(&b->events, text.data, text.n);
  bytes_text(&b->events, value, valuelength, 1);
  bytes_char(&b->events, '\n');
  b->events.failed |= text.failed;
  bytes_free(&text);
}

/* --------------------------------------------------------------- batch -- */

int batch_full (const Batch *b) {
  return b->samples >= BATCH_SAMPLES || b->events.n >= BATCH_BYTES;
}

/* Writes a line with 'letter' and 'text', the values of one column of the batch. Empties 'text'.
   Writes no line if 'text' is empty. */
static void column (Bytes *to, char letter, Bytes *text) {
  if (text->n > 0) {
    bytes_char(to, letter);
    bytes_add(to, text->data, text->n);
    bytes_char(to, '\n');
    text->n = 0;
  }
}

int batch_take (Batch *b, Bytes *to) {
  if (b->samples == 0 && b->events.n == 0)
    return 0;
  bytes_char(to, 'n');
  bytes_decimal(to, ' ', b->samples);
  bytes_char(to, '\n');
  column(to, 't', &b->times);
  column(to, 'k', &b->kinds);
  column(to, 's', &b->sizes);
  column(to, 'c', &b->counts);
  column(to, 'o', &b->outside);
  if (b->labels.n > 0 || b->label != 0)
    endrun(b);
  column(to, 'b', &b->labels);
  b->labelled = 0;
  b->label = 0;
  bytes_add(to, b->events.data, b->events.n);
  b->events.n = 0;
  b->samples = 0;
  b->state = 0;
  return 1;
}

int batch_failed (const Batch *b) {
  return b->times.failed || b->kinds.failed || b->sizes.failed ||
         b->counts.failed || b->outside.failed || b->labels.failed ||
         b->events.failed;
}

void batch_free (Batch *b) {
  bytes_free(&b->times);
  bytes_free(&b->kinds);
  bytes_free(&b->sizes);
  bytes_free(&b->counts);
  bytes_free(&b->outside);
  bytes_free(&b->labels);
  bytes_free(&b->events);
}
