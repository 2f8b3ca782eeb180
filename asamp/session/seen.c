/* SPDX-License-Identifier: MIT */
/* Keeps totals by state name (seen.h). */
#include "seen.h"

#include <stdlib.h>
#include <string.h>

/* past[i]: sums over the states with name number i that were closed or have left their profile. */
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

/* Adds to *to the samples and bytes of a state ('profile' 1), and its collections and pauses
   ('heap' 1). */
static void seen_sum (SeenNamed *to, const Seen *s, int profile, int heap) {
  if (profile) {
    to->samples += seen_get(s, SEEN_SAMPLES);
    to->bytes += seen_get(s, SEEN_BYTES);
  }
  if (!heap) return;
  to->minors += seen_get(s, SEEN_MINORS);
  to->majors += seen_get(s, SEEN_MAJORS);
  to->pauses += seen_get(s, SEEN_PAUSES);
}

void seen_past (unsigned name, const Seen *s, int profile, int heap) {
  seen_sum(&past[name], s, profile, heap);
}

unsigned seen_named (SeenNamed *to) {
  memcpy(to, past, sizeof(past));
  return SEEN_NAMES;
}

void seen_add (SeenNamed *to, const Seen *s, int profile) {
  to->open++;
  seen_sum(to, s, profile, 1);
  to->inuse += seen_get(s, SEEN_INUSE);
  to->held += seen_get(s, SEEN_HELD);
}

void seen_forked (void) {
  unsigned i;
  for (i = 0; i < SEEN_NAMES; i++) past[i] = (SeenNamed){.name = past[i].name};
}
