/* SPDX-License-Identifier: MIT */
/*
** Tags distinguish samples by Lua state, OS thread and labels, in files for other tools. A tag is
** the number of a triple (place, thread, label set). A place is one state, or all states of one
** script, or all other states. After reading, places are combined to a few groups, because other
** tools cannot show 10,000 states.
**
**   TG1  if there are at most TAGS_STATES states and 'by' has no TAGS_BYSCRIPT, each state is a
**        group. Else each script is a group, up to TAGS_STATES scripts, and the last group has the
**        states of all other scripts;
**   TG2  tag 0 belongs to the last group, without thread and labels. There are at most TAGS_MOST
**        tags; samples with further triples have tag 0 and are counted
**        in 'spilled'.
*/
#ifndef asamp_tags_h
#define asamp_tags_h

#include "readprofile.h"

/* Properties that distinguish samples; bits of Tags.by. */
enum { TAGS_BYLABELS = 1, TAGS_BYSTATE = 2, TAGS_BYTHREAD = 4, TAGS_BYSCRIPT = 8 };

/* Number of places: one for each of TAGS_STATES states, one for each of TAGS_STATES scripts, one
   for all others. Each group has a place, so this is also the limit of groups. */
#define TAGS_GROUPS	(2 * TAGS_STATES + 1)

/* The triple of a tag. Members not in Tags.by are 0. */
typedef struct Tag {
  uint32_t group;       /* number of the place; tags_group returns its group */
  uint32_t thread;      /* system number; 0: unknown */
  uint32_t labels;      /* label set; 0: none */
} Tag;

typedef struct TagGroup {
  /* Index of the state in ReadProfile.states, or READER_NOSTATE if the group has several states. */
  uint32_t row;
  uint32_t name;        /* script, offset in 'text'; 0: none */
  uint64_t states;      /* number of Lua states */
} TagGroup;

typedef struct Tags {
  int by;               /* sum of TAGS_BY* */
  const ReadProfile *r;     /* set by the callback 'head' */
  /* the triple of each tag */
  Tag *list;
  size_t n, size;       /* number of tags, capacity */
  IdMap bykey;          /* maps triples to tags */
  uint32_t names[TAGS_STATES];  /* scripts, offsets in 'text'; names[i] is place TAGS_STATES + i */
  uint32_t nnames;      /* number of scripts in 'names' */
  uint64_t spilled;     /* samples with tag 0 because of the limit (TG2), in sampling
                           periods */
  /* The groups. tags_finish sets 'groups', 'ngroups' and 'groupof'. */
  TagGroup groups[TAGS_GROUPS];
  uint32_t ngroups;     /* at least 1 */
  uint32_t groupof[TAGS_GROUPS];  /* group of each place */
} Tags;

/* Initializes the tags; 'by' is a sum of TAGS_BY*. Returns 0 if there is not enough memory;
   call tags_free in either case. */
int tags_init (Tags *t, int by);
/* Frees everything. */
void tags_free (Tags *t);

/* Returns the tag of the client's current event with label set 'labels'; creates it if needed.
   At the limit (TG2) adds 'count' to 'spilled' and returns 0. Returns TAGS_NONE if there is not
   enough memory. */
uint32_t tags_at (Tags *t, const ReaderClient *client, uint32_t labels, uint64_t count);

#define TAGS_NONE	UINT32_MAX

/* Combines the places to groups (TG1), after the file was read. Counts in 'left' the states that
   have no own group, and the samples that have no own tag. tags_at must not be called later. */
void tags_finish (Tags *t, const ReadProfile *r, uint64_t *left);

/* Returns the index in 'groups' of the group of a tag. Call it after tags_finish. */
static inline uint32_t tags_group (const Tags *t, uint32_t tag) {
  return t->groupof[t->list[tag].group];
}

/* bytes of a group's name with its NUL */
#define TAGS_TEXT	(READER_MAXNAME + 32)

/* Writes the name of a group, such as "3 worker" (state 3), "worker" (all its states) or "(12
   others)". Returns the length. Call it after tags_finish. */
size_t tags_groupname (const Tags *t, uint32_t group, char text[TAGS_TEXT]);

#define TAGS_LABELS	8192  /* largest text of a label set, bytes */

/* Writes a label set as "[route=/checkout user=5]", truncated, without a NUL. Returns the
   length. */
size_t tags_labels (const ReadProfile *r, uint32_t set, char text[TAGS_LABELS]);

#endif
