/* SPDX-License-Identifier: MIT */
/* Reads the label sets of samples (readerlabels.h). */
#include "readerlabels.h"
#include "list.h"

#include <string.h>

/* Appends an empty label set to ReadProfile.labelsets. Returns 0 if out of memory. */
static int newset (ReaderState *s) {
  ReadProfile *r = s->r;
  ReadLabelSet *set;
  if (!list_grow(&r->labelsets, r->nlabelsets, &s->labelsetsize, sizeof(*r->labelsets))) {
    s->failed = 1;
    return 0;
  }
  set = &r->labelsets[r->nlabelsets++];
  set->first = (uint32_t)r->nlabels;
  set->n = 0;
  set->unwanted = s->client->labelname != NULL && s->client->labelvalue != NULL;
  return 1;
}

/* Adds a string to ReadProfile.text, cut to READER_MAXNAME bytes. Returns the offset of the
   text. */
static uint32_t putcut (ReadProfile *r, const char *text, size_t n) {
  r->left[LEFT_LONGNAMES] += n > READER_MAXNAME;
  return strtab_put(&r->text, text, n < READER_MAXNAME ? n : READER_MAXNAME);
}

/* Adds a label to the last element of ReadProfile.labelsets. Updates 'unwanted' of this set, which
   depends on the client's selection of labels. */
static void putlabel (ReaderState *s, const char *name, size_t namelength,
                      const char *value, size_t valuelength) {
  ReadProfile *r = s->r;
  ReadLabelSet *set = &r->labelsets[r->nlabelsets - 1];
  const ReaderClient *c = s->client;
  ReadLabel *label;
  if (r->nlabels >= READER_MAXLABELS) {
    r->left[LEFT_LABELS]++;
    return;
  }
  if (!list_grow(&r->labels, r->nlabels, &s->labelsize, sizeof(*r->labels))) {
    s->failed = 1;
    return;
  }
  label = &r->labels[r->nlabels++];
  set->n++;
  label->name = putcut(r, name, namelength);
  label->value = putcut(r, value, valuelength);
  if (c->labelname != NULL && strcmp(r->text.text + label->name, c->labelname) == 0)
    set->unwanted = c->labelvalue == NULL ||
                    strcmp(r->text.text + label->value, c->labelvalue) != 0;
}

/* Counts the label set 'id', which is dropped because of READER_MAXLABELSETS, in LEFT_SETS. Called
   for each line of the set; only the first call counts the set. */
static void leaveset (ReaderState *s, uint64_t id) {
  if (id > s->lastset) {
    s->lastset = id;
    s->r->left[LEFT_SETS]++;
  }
}

/* Reads a line "B" of a batch: one label of a label set. The set must be a new set with the next
   number, or the last set if this batch has created it; otherwise ignores the line. So a set is
   complete before the first event of its samples, and 'unwanted' is the same for all these events.
   'before': number of sets before the batch. */
static void readline (ReaderState *s, Fields *line, size_t before) {
  uint64_t id, length;
  size_t rest;
  if (!details_number(line, &id) || !details_number(line, &length))
    return;
  line->p += line->p < line->end;  /* skips the space */
  rest = (size_t)(line->end - line->p);
  if (length > rest)
    length = rest;
  if (id > READER_MAXLABELSETS && s->r->nlabelsets == READER_MAXLABELSETS) {
    leaveset(s, id);
    return;
  }
  if (id == s->r->nlabelsets + (uint64_t)1 && !newset(s))
    return;
  if (id > before && id == s->r->nlabelsets)
    putlabel(s, line->p, (size_t)length, line->p + length, rest - (size_t)length);
}

void readerlabels_read (ReaderState *s, Fields events) {
  const size_t before = s->r->nlabelsets;
  Fields line;
  int letter;
  while ((letter = details_event(&events, &line)) != 0 && !s->failed) {
    if (letter == 'B')
      readline(s, &line, before);
  }
}

uint32_t readerlabels_set (const ReaderState *s, uint64_t id) {
  return id <= s->r->nlabelsets ? (uint32_t)id : 0;
}

int readerlabels_unwanted (const ReaderState *s, uint32_t set) {
  return set > 0 ? s->r->labelsets[set - 1].unwanted
                 : s->client->labelname != NULL && s->client->labelvalue != NULL;
}
