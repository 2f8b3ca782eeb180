/* SPDX-License-Identifier: MIT */
/* Keeps totals by state name (seen.h). */
#include "seen.h"

#include <stdlib.h>
#include <string.h>

/* past[i]: for name number i, the sums that seen_past has made over states that were closed or have
   left their profile; also the number of states made. */
static SeenNamed past[SEEN_NAMES] = {[0] = {.name = ""}, [SEEN_NAMES - 1] = {.name = "(others)"}};
static unsigned nnames = 1;

void seen_left (const Seen *s, ProfileLeft *left) {
  memset(left, 0, sizeof(*left));
  left->chunks = seen_get(s, SEEN_CHUNKS);
  left->functions = seen_get(s, SEEN_FUNCTIONS);
  left->classes = seen_get(s, SEEN_CLASSES);
  left->paths = seen_get(s, SEEN_PATHS);
  left->steps = seen_get(s, SEEN_STEPS);
}

static unsigned seen_find (const char *source) {
  unsigned i;
  char *name;
  if (*source == '@' || *source == '=') source++;
  for (i = 1; i < nnames; i++)
    if (strcmp(past[i].name, source) == 0) return i;
  if (nnames == SEEN_NAMES - 1 || (name = strdup(source)) == NULL) return SEEN_NAMES - 1;
  past[nnames].name = name;
  return nnames++;
}

unsigned seen_name (const char *source) {
  unsigned name = seen_find(source);
  past[name].made++;
  return name;
}

const char *seen_text (unsigned name) {
  return past[name].name;
}

/* Adds the numbers 'first' to 'last' of a state to *to. */
static void seen_sum (SeenNamed *to, const Seen *s, SeenNumber first, SeenNumber last) {
  unsigned i;
  for (i = first; i <= last; i++) to->sums[i] += seen_get(s, i);
}

void seen_past (unsigned name, const Seen *s, SeenNumber first, SeenNumber last) {
  seen_sum(&past[name], s, first, last);
}

unsigned seen_named (SeenNamed *to) {
  memcpy(to, past, sizeof(past));
  return SEEN_NAMES;
}

void seen_add (SeenNamed *to, const Seen *s, int profile) {
  to->open++;
  if (profile) seen_sum(to, s, SEEN_SAMPLES, SEEN_BYTES);
  seen_sum(to, s, SEEN_INUSE, SEEN_PAUSES);
}

void seen_restart (Seen *s) {
  unsigned i;
  for (i = SEEN_TENURED; i <= SEEN_PAUSES; i++) {
    s->parents[i] += seen_get(s, i);
    seen_put(s, i, 0);
  }
}

void seen_forked (void) {
  unsigned i;
  for (i = 0; i < SEEN_NAMES; i++) past[i] = (SeenNamed){.name = past[i].name};
}
