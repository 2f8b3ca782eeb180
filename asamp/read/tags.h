/* SPDX-License-Identifier: MIT */
/*
** Tags distinguish samples in files for other tools. A tag is the number of a combination of place,
** OS thread and label set. A place is one Lua state, all states of one script, or all other states.
** After reading, places are merged into a few groups, because other tools cannot show 10,000
** states.
**
**   TG1  each state is a group if there are at most TAGS_STATES states and 'by' has no
**        TAGS_BYSCRIPT. Else each of the first TAGS_STATES scripts is a group, and the last group
**        has all other states;
**   TG2  at most TAGS_MOST tags; further combinations have tag 0 and count in 'spilled'. Tag 0
**        represents the last group, without thread and labels.
*/
#ifndef asamp_tags_h
#define asamp_tags_h

#include "readprofile.h"

/* Properties by which tags distinguish samples; bits of Tags.by. */
enum { TAGS_BYLABELS = 1, TAGS_BYSTATE = 2, TAGS_BYTHREAD = 4, TAGS_BYSCRIPT = 8 };

/* Number of places (Tag.group), and largest number of groups: TAGS_STATES of one Lua state each,
   TAGS_STATES of one script each, and one with all other states. */
#define TAGS_GROUPS	(2 * TAGS_STATES + 1)

/* The properties that all samples with a tag share. Members that Tags.by does not select are 0. */
typedef struct Tag {
  uint32_t group;       /* a Lua state, all states of one script, or all other states: number of
                           this "place", an index in Tags.groupof */
  uint32_t thread;      /* system number of the OS thread; 0: unknown */
  uint32_t labels;      /* label set; 0: none */
} Tag;

typedef struct TagGroup {
  /* Index of the group's only state in ReadProfile.states. READER_NOSTATE: several states. */
  uint32_t row;
  uint32_t name;        /* name of the script, offset in ReadProfile.text; 0: none */
  uint64_t states;      /* number of Lua states in the group */
} TagGroup;

typedef struct Tags {
  int by;               /* sum of TAGS_BY* */
  const ReadProfile *r;     /* profile that is read; set by the client's callback 'head' */
  /* list[t]: combination that the tag t represents */
  Tag *list;
  size_t n, size;       /* number of tags, capacity */
  IdMap bykey;          /* maps combinations to tags */
  /* Names of scripts, offsets in ReadProfile.text. The states of script names[i] have the place
     TAGS_STATES + i. */
  uint32_t names[TAGS_STATES];
  uint32_t nnames;      /* number of scripts in 'names' */
  uint64_t spilled;     /* number of sampling periods of the samples that have tag 0, because there
                           are TAGS_MOST tags */
  /* The groups of places, and their number. Set by tags_finish, like 'groupof'. */
  TagGroup groups[TAGS_GROUPS];
  uint32_t ngroups;     /* at least 1 */
  uint32_t groupof[TAGS_GROUPS];  /* groupof[i]: index in 'groups' of the group that has place i */
} Tags;

/* Initializes the tags; 'by' is a sum of TAGS_BY*. Returns 0 if out of memory; call tags_free in
   either case. */
int tags_init (Tags *t, int by);

void tags_free (Tags *t);

/* Returns the tag of a sample with the label set 'labels' in the client's current Lua state;
   creates it if needed. Beyond TAGS_MOST tags, adds 'count' to 'spilled' and returns 0. Returns
   TAGS_NONE if out of memory. */
uint32_t tags_at (Tags *t, const ReaderClient *client, uint32_t labels, uint64_t count);

#define TAGS_NONE	UINT32_MAX

/* Merges places (Lua states or scripts) into groups. Call it after the last call of tags_at. Counts
   the states without an own group, and the samples without an own tag, in 'left'. */
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
