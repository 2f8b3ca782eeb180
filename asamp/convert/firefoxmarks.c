/* SPDX-License-Identifier: MIT */
/* Markers and counters of a Firefox profile (firefoxmarks.h). */
#include "firefoxmarks.h"
#include "decimal.h"

#include <stdio.h>
#include <string.h>

enum { TIME, DURATION, INUSE, HELD, RSS, TENURED, DECIDED, SURVIVED, LEFT,
       MAJOR, STATE, NVALUES };

/* An entry of the temporary file Firefox.event: a collection, or a mark of the program. */
typedef struct Event {
  int64_t tag;
  int collection;      /* 1: a collection, 0: a mark */
  int64_t v[NVALUES];  /* v[TIME] to v[STATE]: numbers of a collection. A mark has only v[TIME] */
  /* Name and value of a mark, truncated to the sizes of the arrays. */
  char name[256], value[4096];
  size_t namelength, valuelength;
} Event;

/* Reads n bytes of a temporary file and stores up to 'room' of them in 'to'. Returns the number of
   stored bytes. */
static size_t firefoxmarks_text (Spill *s, uint64_t n, char *to, size_t room) {
  size_t kept = 0;
  while (n > 0) {
    size_t step = n < 1024 ? (size_t)n : 1024;
    const char *piece = spill_taketext(s, step);
    size_t keep = step < room - kept ? step : room - kept;
    if (piece == NULL)
      break;
    memcpy(to + kept, piece, keep);
    kept += keep;
    n -= step;
  }
  return kept;
}

/* Reads the next entry of the temporary file f->event. */
static void nextevent (Firefox *f, Event *e) {
  Spill *s = &f->event;
  int i;
  e->tag = spill_take(s);
  e->collection = spill_take(s) != 0;
  e->v[TIME] = spill_take(s);
  if (e->collection) {
    for (i = DURATION; i < NVALUES; i++)
      e->v[i] = spill_take(s);
  }
  else {
    uint64_t n = (uint64_t)spill_take(s);
    uint64_t m = (uint64_t)spill_take(s);
    e->namelength = firefoxmarks_text(s, n, e->name, sizeof(e->name));
    e->valuelength = firefoxmarks_text(s, m, e->value, sizeof(e->value) - 1);
    e->value[e->valuelength] = '\0';
  }
}

static void member (FirefoxFile *w, const char *name, int64_t value) {
  output_text(w->o, ",\"");
  output_text(w->o, name);
  output_text(w->o, "\":");
  output_int(w->o, value);
}

static void collectiondata (FirefoxFile *w, const Event *e) {
  static const char *const states[] = {"none", "marking", "sweeping",
                                       "finalizing"};
  const int64_t *v = e->v;
  output_text(w->o, v[MAJOR] ? "{\"type\":\"Major GC\"" :
                               "{\"type\":\"Minor GC\"");
  member(w, "inuse", v[INUSE]);
  member(w, "held", v[HELD]);
  if (v[RSS] > 0)  /* 0: unknown */
    member(w, "rss", v[RSS]);
  member(w, "tenured", v[TENURED]);
  member(w, "decided", v[DECIDED]);
  member(w, "survived", v[SURVIVED]);
  if (v[DECIDED] > 0) {
    char share[40];
    decimal_print(share, sizeof(share), "%.4f", (double)v[SURVIVED] / (double)v[DECIDED]);
    output_text(w->o, ",\"survival\":");
    output_text(w->o, share);
  }
  member(w, "left", v[LEFT]);
  output_text(w->o, ",\"state\":\"");
  output_text(w->o, states[v[STATE] & 3]);
  output_text(w->o, "\"}");
}

/* Returns 1 if the text is a JSON number with an exponent of at most two digits. */
static int firefoxmarks_isnumber (const char *s) {
  size_t n;
  s += *s == '-';
  n = strspn(s, "0123456789");
  if (n == 0 || (n > 1 && *s == '0'))
    return 0;
  s += n;
  if (*s == '.') {
    n = strspn(s + 1, "0123456789");
    if (n == 0)
      return 0;
    s += n + 1;
  }
  if (*s == 'e' || *s == 'E') {
    s += 1;
    s += *s == '-' || *s == '+';
    n = strspn(s, "0123456789");
    if (n == 0 || n > 2)
      return 0;
    s += n;
  }
  return *s == '\0';
}

static void markdata (FirefoxFile *w, const Event *e) {
  output_text(w->o, "{\"type\":\"Mark\",\"value\":");
  output_string(w->o, e->value, e->valuelength);
  if (firefoxmarks_isnumber(e->value)) {
    output_text(w->o, ",\"number\":");
    output_text(w->o, e->value);
  }
  output_char(w->o, '}');
}

enum { DATA, NAME, START, END, PHASE, CATEGORY, NCOLUMNS };

/* Writes the value of 'column' in the row of a collection or mark. */
static void markercell (FirefoxFile *w, const Event *e, int column) {
  int64_t time = e->v[TIME];
  switch (column) {
    case DATA:
      if (e->collection)
        collectiondata(w, e);
      else
        markdata(w, e);
      break;
    case NAME:
      if (e->collection)
        output_uint(w->o, firefoxcolumns_string(w, e->v[MAJOR] ? "Major GC" : "Minor GC", 8));
      else
        output_uint(w->o, firefoxcolumns_string(w, e->name, e->namelength));
      break;
    case START:
      output_ms(w->o, !e->collection ? time : time > e->v[DURATION] ? time - e->v[DURATION] : 0);
      break;
    case END:
      if (e->collection)
        output_ms(w->o, time);
      else
        output_text(w->o, "null");
      break;
    case PHASE:
      output_char(w->o, e->collection ? '1' : '0');
      break;
    default:
      output_uint(w->o, e->collection ? FIREFOX_COLLECTOR : FIREFOX_OTHER);
      break;
  }
}

static const char *const names[NCOLUMNS] = {
  "data", "name", "startTime", "endTime", "phase", "category"
};

void firefoxmarks_none (FirefoxFile *w) {
  int column;
  for (column = 0; column < NCOLUMNS; column++)
    firefoxcolumns_same(w, names[column], "null", 0);
  firefoxcolumns_length(w, 0);
}

void firefoxmarks_markers (FirefoxFile *w) {
  Firefox *f = w->f;
  Event e;
  uint64_t i, k;
  int column;
  for (column = 0; column < NCOLUMNS; column++) {
    k = 0;
    spill_rewind(&f->event);
    firefoxcolumns_start(w, names[column]);
    for (i = 0; i < f->events; i++) {
      nextevent(f, &e);
      if (!firefoxcolumns_mine(w, e.tag))
        continue;
      firefoxcolumns_comma(w, k++);
      markercell(w, &e, column);
    }
    firefoxcolumns_end(w);
  }
  firefoxcolumns_length(w, f->of[w->group].events);
}

/* Writes a counter of the Firefox format: for each collection, a row with the change of
   Event.v[which] since the previous collection. Before them, writes a row with the value 0, because
   the viewer ignores the value of the first row. */
static void counter (FirefoxFile *w, const char *description, const char *label,
                     const char *color, int weight, int which) {
  Firefox *f = w->f;
  uint64_t i;
  int column;
  char text[600];
  snprintf(text, sizeof(text),
    "{\"name\":\"%s\",\"category\":\"Memory\",\"description\":\"%s\","
    "\"pid\":\"1\",\"mainThreadIndex\":0,\"display\":{\"graphType\":"
    "\"line-accumulated\",\"unit\":\"bytes\",\"color\":\"%s\","
    "\"markerSchemaLocation\":\"timeline-memory\",\"sortWeight\":%d,"
    "\"label\":\"%s\",\"tooltipRows\":[{\"type\":\"value\",\"source\":"
    "\"accumulated\",\"format\":{\"unit\":\"bytes\"},\"label\":\"%s\"}]},\n"
    "\"samples\":{", label, description, color, weight, label, label);
  output_text(w->o, text);
  for (column = 0; column < 2; column++) {
    int64_t before = 0;
    Event e;
    spill_rewind(&f->event);
    firefoxcolumns_start(w, column == 0 ? "time" : "count");
    output_char(w->o, '0');
    for (i = 0; i < f->events; i++) {
      nextevent(f, &e);
      if (!e.collection)
        continue;
      output_char(w->o, ',');
      if (column == 0)
        output_ms(w->o, e.v[TIME]);
      else
        output_int(w->o, (int64_t)((uint64_t)e.v[which] - (uint64_t)before));
      before = e.v[which];
    }
    firefoxcolumns_end(w);
  }
  firefoxcolumns_length(w, f->collections + 1);
  output_char(w->o, '}');
}

void firefoxmarks_counters (FirefoxFile *w) {
  output_text(w->o, "\"counters\":[");
  if (w->f->collections > 0) {
    counter(w, "bytes in objects that were not freed yet", "In use", "purple",
            10, INUSE);
    output_text(w->o, ",\n");
    counter(w, "bytes reserved from the system", "Reserved", "blue", 11, HELD);
    output_text(w->o, ",\n");
    counter(w, "resident set of the process", "RSS", "grey", 12, RSS);
  }
  output_text(w->o, "],\n");
}
