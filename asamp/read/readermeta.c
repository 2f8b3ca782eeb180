/* SPDX-License-Identifier: MIT */
/* Reads the meta records of a log, which are pairs of key and value (readermeta.h). */
#include "readermeta.h"
#include "decimal.h"
#include "details.h"
#include "readerbatch.h"
#include "readername.h"

#include <stdlib.h>
#include <string.h>

/* Returns 1 if 'text' starts with 'with'. */
static int starts (const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/* Reads one meta record gc_stats__N. Its value is the name of a statistic, and object records have
   the statistics in the order of these meta records. If the reader uses the statistic, stores its
   index. */
static void statname (ReaderState *s, const char *name) {
  static const char *const known[3] = {
    "total_memory_used", "total_size_of_arenas", "VmRSS"
  };
  int i;
  for (i = 0; i < 3; i++) {
    if (strcmp(name, known[i]) == 0)
      s->stat[i] = (int)s->nstats;
  }
  s->nstats++;
}

/* Converts 'value', the text of a number of seconds, to us. Returns 0 if the number is out of
   range. */
static uint64_t microseconds (const char *value) {
  double us = decimal_read(value, NULL) * 1e6 + 0.5;
  return us > 0 && us < (double)READER_MAXTIME ? (uint64_t)us : 0;
}

/* Records that asamp wrote the file. 'format': value of the meta record asamp.format. */
static void ownfile (ReaderState *s, int format) {
  s->format = format;
  s->r->own = s->r->timed = 1;
  s->r->many = format == DETAILS_STATES;
  s->r->scale = 1;
  s->period = s->r->period;
  s->timeperiod = s->r->timeperiod;
}

/* Reads the four numbers of ReadProfile.ring (length and contents of a flight recorder's file).
   Missing numbers are 0. */
static void ring (ReadProfile *r, const char *value) {
  char *end = (char *)value;
  int i;
  r->isring = 1;
  for (i = 0; i < 4; i++)
    r->ring[i] = strtoull(end, &end, 10);
}

/* Reads a meta record whose key starts with "asamp.". The record asamp.format shows that asamp
   wrote the file. Records that need a file of asamp (r->own) are ignored before asamp.format.
   Returns 0 if the value is an invalid batch with details of samples. */
static int readown (ReaderState *s, const char *key, const char *value, size_t n) {
  ReadProfile *r = s->r;
  if (strcmp(key, "asamp.format") == 0) {
    int format = details_format(value, n);
    if (format != 0)
      ownfile(s, format);
  }
  else if (strcmp(key, "asamp.start") == 0)
    r->clock = strtoull(value, NULL, 10);
  else if (strcmp(key, "asamp.gc") == 0)
    r->tuning = r->own ? strtab_put(&r->text, value, n) : 0;
  else if (strcmp(key, "asamp.undecided") == 0)
    r->end.undecided = 1;
  else if (strcmp(key, "asamp.lost") == 0)
    r->lost = strtoull(value, NULL, 10);
  else if (strcmp(key, "asamp.pid") == 0)
    r->pid = strtoull(value, NULL, 10);
  else if (strcmp(key, "asamp.recorder") == 0) {
    char *end;
    r->recorder = strtoull(value, &end, 10);
    r->recorded = strtoull(end, NULL, 10);
  }
  else if (strcmp(key, "asamp.followed") == 0)
    r->followed = r->own ? strtoull(value, NULL, 10) : 0;
  else if (strcmp(key, "asamp.allocated") == 0)
    r->allocated = r->own ? strtoull(value, NULL, 10) : 0;
  else if (strcmp(key, "asamp.labelled") == 0)
    r->labelled = r->own;
  else if (r->own && strcmp(key, "asamp.ring") == 0)
    ring(r, value);
  else if (strcmp(key, "asamp.states") == 0)
    r->begun = r->own ? strtoull(value, NULL, 10) : 0;
  else if (strcmp(key, "asamp.malloc") == 0)
    r->mallocs = r->own ? strtoull(value, NULL, 10) : 0;
  else if (strcmp(key, "asamp.copies") == 0)
    r->copying = r->own;
  else if (strcmp(key, "asamp.left") == 0) {
    if (r->own)
      readerleft_parse(r->left, value);
  }
  else if (strcmp(key, "asamp.merged") == 0)
    r->merged = r->own ? strtoull(value, NULL, 10) : 0;
  else if (strcmp(key, "asamp.sources") == 0)
    r->sources = r->own ? strtab_put(&r->text, value, n) : 0;
  else if (strcmp(key, "asamp.random") == 0)
    r->random = strcmp(value, "1") == 0;
  else if (r->own && key[6] >= '1' && key[6] <= '9')
    return readerbatch_read(s, value, n);
  return 1;
}

int readermeta_read (ReaderState *s, const char *key, const char *value, size_t n) {
  ReadProfile *r = s->r;
  if (strcmp(key, "sample_allocated_bytes") == 0) {
    r->period = strtoull(value, NULL, 10);
    if (r->own)
      s->period = r->period;
  }
  else if (strcmp(key, "period") == 0) {
    uint64_t ns = microseconds(value) * 1000;
    r->end.period = 1;
    if (r->timeperiod == 0 && ns > 0)
      s->timeperiod = r->timeperiod = ns;
  }
  else if (strcmp(key, "argv") == 0)
    r->command = strtab_put(&r->text, value, n);
  else if (strcmp(key, "start_time_offset") == 0)
    r->clock = microseconds(value);
  else if (starts(key, "gc_stats__"))
    statname(s, value);
  else if (starts(key, "__rtype_")) {
    value += strspn(value, " ");
    readername_set(s, &s->types, strtoull(key + strlen("__rtype_"), NULL, 10) + 1, value,
                   strlen(value));
  }
  else if (starts(key, "asamp."))
    return readown(s, key, value, n);
  return 1;
}
