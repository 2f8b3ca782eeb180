/* SPDX-License-Identifier: MIT */
/* Numbers for combinations of Lua state, OS thread and label set (tags.h). */
#include "tags.h"
#include "bytes.h"
#include "list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Samples are first assigned to places: one Lua state, all states of a script, or all other states.
   Later, places are merged into groups. OTHERS is the number of the place of all other states:
   neither the state nor its script has a place. */
#define OTHERS	(2 * TAGS_STATES)

int tags_init (Tags *t, int by) {
  memset(t, 0, sizeof(*t));
  t->by = by;
  if (!list_grow(&t->list, 0, &t->size, sizeof(*t->list)))
    return 0;
  memset(t->list, 0, sizeof(*t->list));
  t->list[0].group = by & (TAGS_BYSTATE | TAGS_BYSCRIPT) ? OTHERS : 0;
  t->n = 1;
  return 1;
}

void tags_free (Tags *t) {
  free(t->list);
  idmap_free(&t->bykey);
  memset(t, 0, sizeof(*t));
}

/* Returns the number of the place (tags.h) that all states of a script share; assigns a place to
   the script if needed. Returns OTHERS if no place is free. */
static uint32_t script (Tags *t, uint32_t name) {
  uint32_t i;
  for (i = 0; i < t->nnames; i++) {
    if (t->names[i] == name)
      return TAGS_STATES + i;
  }
  if (t->nnames == TAGS_STATES)
    return OTHERS;
  t->names[t->nnames] = name;
  return TAGS_STATES + t->nnames++;
}

/* Returns the number of the place (tags.h) of the client's current Lua state: the place of this
   state alone, the place of all states of its script, or OTHERS. Returns 0 if tags do not
   distinguish states. */
static uint32_t place (Tags *t, const ReaderClient *c) {
  if (!(t->by & (TAGS_BYSTATE | TAGS_BYSCRIPT)) || !t->r->many)
    return 0;
  if (c->state == READER_NOSTATE || c->row >= t->r->nstates || t->r->states[c->row].others)
    return OTHERS;
  return !(t->by & TAGS_BYSCRIPT) && c->row < TAGS_STATES
         ? c->row : script(t, t->r->states[c->row].name);
}

uint32_t tags_at (Tags *t, const ReaderClient *c, uint32_t labels, uint64_t count) {
  Tag tag = {place(t, c), t->by & TAGS_BYTHREAD ? c->thread : 0,
             t->by & TAGS_BYLABELS ? labels : 0};
  /* the key is never 0, which an IdMap cannot store */
  uint64_t key = (uint64_t)(tag.group + 1) << 56 | (uint64_t)tag.labels << 32 | tag.thread;
  uint32_t at = idmap_get(&t->bykey, key);
  if (at != IDMAP_NONE)
    return at;
  if (t->n >= TAGS_MOST) {
    t->spilled += count;
    return 0;
  }
  if (!list_grow(&t->list, t->n, &t->size, sizeof(*t->list)) ||
      !idmap_set(&t->bykey, key, (uint32_t)t->n))
    return TAGS_NONE;
  t->list[t->n] = tag;
  return (uint32_t)t->n++;
}

/* Makes each Lua state a group. */
static void groupstates (Tags *t, const ReadProfile *r) {
  uint32_t i;
  for (i = 0; i < r->nstates; i++) {
    t->groups[i].row = i;
    t->groups[i].name = r->states[i].name;
    t->groups[i].states = 1;
    t->groupof[i] = i;
  }
  t->ngroups = (uint32_t)r->nstates;
}

/* Makes a group of Lua states for each script. Fills t->groupof, which maps places (tags.h) to
   groups. Returns the number of states whose script has no group. Adds to *together the number of
   states that share a group with an earlier state of the same script. */
static uint64_t groupscripts (Tags *t, const ReadProfile *r, uint64_t *together) {
  uint64_t others = 0;
  uint32_t i;
  for (i = 0; i < r->nstates; i++) {
    const ReadState *s = &r->states[i];
    uint32_t at = s->others ? OTHERS : script(t, s->name);
    if (i < TAGS_STATES)
      t->groupof[i] = at - TAGS_STATES;
    if (at == OTHERS)
      others += (uint64_t)s->others + 1;
    else
      t->groups[at - TAGS_STATES].states++;
  }
  for (i = 0; i < t->nnames; i++) {
    /* A group has no states if all states of its script were renamed after 'script' had added the
       script. Such a group adds nothing to *together. */
    *together += t->groups[i].states - (t->groups[i].states > 0);
    t->groups[i].row = READER_NOSTATE;
    t->groups[i].name = t->names[i];
    t->groupof[TAGS_STATES + i] = i;
  }
  for (i = 0; i < TAGS_STATES; i++) {  /* states whose script has no group are in the last group */
    if (t->groupof[i] == OTHERS - TAGS_STATES)
      t->groupof[i] = t->nnames;
  }
  t->ngroups = t->nnames;
  return others;
}

/* Returns 1 if the group of all other states has samples: samples with the place OTHERS, or samples
   with tag 0 because there are TAGS_MOST tags. */
static int hasothers (const Tags *t) {
  size_t i;
  for (i = 1; i < t->n && t->list[i].group != OTHERS; i++) ;
  return i < t->n || t->spilled > 0;
}

void tags_finish (Tags *t, const ReadProfile *r, uint64_t *left) {
  uint64_t others = 0;
  memset(t->groupof, 0, sizeof(t->groupof));
  memset(t->groups, 0, sizeof(t->groups));
  t->ngroups = 1;
  idmap_free(&t->bykey);
  left[LEFT_TAGS] = t->spilled;
  if (t->by & (TAGS_BYSTATE | TAGS_BYSCRIPT) && r->nstates > 0) {
    int each = !(t->by & TAGS_BYSCRIPT) && r->nstates <= TAGS_STATES &&
               !r->states[r->nstates - 1].others;
    if (each)
      groupstates(t, r);
    else {
      uint64_t together = 0;
      others = groupscripts(t, r, &together);
      if (t->by & TAGS_BYSTATE)
        left[LEFT_TOGETHER] = together;
      left[LEFT_SCRIPTS] = others;
    }
    if (others > 0 || hasothers(t)) {
      t->groups[t->ngroups].row = READER_NOSTATE;
      t->groups[t->ngroups].states = others;
      t->groupof[OTHERS] = t->ngroups++;
    }
  }
}

size_t tags_groupname (const Tags *t, uint32_t group, char text[TAGS_TEXT]) {
  const TagGroup *g = &t->groups[group];
  const char *name = g->name != 0 ? t->r->text.text + g->name : "(unknown script)";
  if (g->row != READER_NOSTATE)
    return (size_t)snprintf(text, TAGS_TEXT, "%lu %s", (unsigned long)t->r->states[g->row].id,
                            name);
  if (group + 1 == t->ngroups && t->nnames < t->ngroups)
    return g->states == 0 ? (size_t)sprintf(text, "(others)")
           : (size_t)snprintf(text, TAGS_TEXT, "(%llu others)", (unsigned long long)g->states);
  return (size_t)snprintf(text, TAGS_TEXT, "%s", name);
}

size_t tags_labels (const ReadProfile *r, uint32_t set, char text[TAGS_LABELS]) {
  const ReadLabelSet *s = &r->labelsets[set - 1];
  size_t n = 0;
  uint32_t i;
  for (i = 0; i < s->n && n < TAGS_LABELS - 2; i++) {
    const ReadLabel *l = &r->labels[s->first + i];
    int more = snprintf(text + n, TAGS_LABELS - 1 - n, "%c%s=%s", i == 0 ? '[' : ' ',
                        r->text.text + l->name, r->text.text + l->value);
    n = n + (size_t)more < TAGS_LABELS - 2 ? n + (size_t)more : TAGS_LABELS - 2;
  }
  if (n == TAGS_LABELS - 2) n = bytes_whole(text, n);
  if (n == 0) text[n++] = '[';
  text[n++] = ']';
  return n;
}
