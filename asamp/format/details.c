/* SPDX-License-Identifier: MIT */
/* Parser for the text that describes a batch of samples: sizes, types and outcomes (details.h). */
#include "details.h"

#include <string.h>

int details_number (Fields *f, uint64_t *n) {
  const char *p = f->p;
  uint64_t value = 0;
  while (p < f->end && *p == ' ')
    p++;
  if (p == f->end || *p < '0' || *p > '9')
    return 0;
  while (p < f->end && *p >= '0' && *p <= '9') {
    uint64_t digit = (uint64_t)(*p++ - '0');
    if (value > (UINT64_MAX - digit) / 10)
      return 0;
    value = value * 10 + digit;
  }
  f->p = p;
  *n = value;
  return 1;
}

int details_signed (Fields *f, int64_t *n) {
  Fields rest = *f;
  uint64_t value;
  int negative;
  while (rest.p < rest.end && *rest.p == ' ')
    rest.p++;
  negative = rest.p < rest.end && *rest.p == '-';
  rest.p += negative;
  if (!details_number(&rest, &value) || value > INT64_MAX)
    return 0;
  *f = rest;
  *n = negative ? -(int64_t)value : (int64_t)value;
  return 1;
}

int details_format (const char *value, size_t n) {
  if (n != 1)
    return 0;
  return *value >= '2' && *value <= *DETAILS_STATESTEXT ? *value - '0' : 0;
}

void details_collection (Fields *f, int format, Collected *c) {
  int64_t waited = 0;
  memset(c, 0, sizeof(*c));
  if (format == 2) {
    (void)(details_signed(f, &c->time) && details_signed(f, &c->inuse) &&
           details_signed(f, &c->held) && details_signed(f, &c->rss) &&
           details_number(f, &c->duration) && details_number(f, &c->tenured) &&
           details_number(f, &c->state) && details_number(f, &c->minors) &&
           details_number(f, &c->majors));
    c->processor = c->duration;
    return;
  }
  /* In formats 3 and 4, the line has these numbers in place of four fields of *c:
     - time: the start of the collection, not its end
     - rss: KiB, not bytes
     - inuse: the change of the bytes in use, minus c->tenured
     - processor: the CPU time during the pause minus the length of the pause, stored in 'waited'
     They are converted below. */
  (void)(details_signed(f, &c->time) && details_number(f, &c->duration) &&
         details_number(f, &c->tenured) && details_signed(f, &c->inuse) &&
         details_signed(f, &c->held) && details_signed(f, &c->rss) &&
         details_number(f, &c->state) && details_number(f, &c->minors) &&
         details_number(f, &c->majors) && details_number(f, &c->label) &&
         details_signed(f, &c->planned) && details_signed(f, &c->over) &&
         details_signed(f, &waited) && details_number(f, &c->looked[LOOKED_REMEMBERED]) &&
         details_number(f, &c->looked[LOOKED_STACKS]) &&
         details_number(f, &c->looked[LOOKED_WEAK]) &&
         details_number(f, &c->looked[LOOKED_LISTED]) && details_number(f, &c->left) &&
         details_number(f, &c->slices) && details_number(f, &c->mutator));
  c->processor = c->duration + (uint64_t)waited;
  c->rss = (int64_t)((uint64_t)c->rss * 1024);
  c->time = (int64_t)((uint64_t)c->time + c->duration);
  c->inuse = (int64_t)((uint64_t)c->inuse + c->tenured);
}

int details_event (Fields *events, Fields *line) {
  const char *newline;
  int letter;
  if (events->p == events->end)
    return 0;
  newline = memchr(events->p, '\n', (size_t)(events->end - events->p));
  if (newline == NULL)
    newline = events->end;
  letter = (unsigned char)*events->p;
  line->p = events->p + (letter != '\n');
  line->end = newline;
  events->p = newline < events->end ? newline + 1 : newline;
  return letter == 0 ? '\n' : letter;
}

int details_split (Details *d, const char *text, size_t n) {
  Fields rest = {text, text + n};
  Fields line;
  int letter;
  memset(d, 0, sizeof(*d));
  if (details_event(&rest, &line) != 'n' || !details_number(&line, &d->samples))
    return 0;
  for (;;) {
    d->events = rest;
    letter = details_event(&rest, &line);
    if (letter == 't')
      d->times = line;
    else if (letter == 'k')
      d->kinds = line;
    else if (letter == 's')
      d->sizes = line;
    else if (letter == 'c')
      d->counts = line;
    else if (letter == 'o')
      d->outside = line;
    else if (letter == 'b')
      d->labels = line;
    else
      return 1;  /* all lists of samples were read: this line is an event, or the text has ended */
  }
}
