/* SPDX-License-Identifier: MIT */
/*
** Tags distinguish the samples of different Lua states, threads and labels in files for other
** tools. A tag is the number of a combination of place, OS thread and label set. A place is one Lua
** state, all states of one script, or all other states. After reading, places are merged into a few
** groups, because other tools cannot show 10,000 states.
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

/* Properties by which tags distinguish samples: label set, Lua state, OS thread, script of the
   state. Tags.by is a sum of them. */
enum { TAGS_BYLABELS = 1, TAGS_BYSTATE = 2, TAGS_BYTHREAD = 4, TAGS_BYSCRIPT = 8 };

/* Largest number of groups, which is also the number of places. Samples are assigned to places,
   which are merged into groups later. TAGS_STATES places have one Lua state each, TAGS_STATES
   places the states of one script each, and one place has all other states. */
#define TAGS_GROUPS	(2 * TAGS_STATES + 1)

/* The properties that all samples with the same tag have in common; a tag is an index in Tags.list.
   Properties that Tags.by does not select are 0. */
typedef struct Tag {
  uint32_t group;       /* number of the place (one Lua state, all states of one script, or all
                           other states); Tags.groupof maps it to a group */
  uint32_t thread;      /* system number of the OS thread; 0: unknown */
  uint32_t labels;      /* label set (ReadSample.labels); 0: none */
} Tag;

typedef struct TagGroup {
  /* Index in ReadProfile.states of the group's only state. READER_NOSTATE: the group has several
     states. */
  uint32_t row;
  uint32_t name;        /* name of the script, offset in ReadProfile.text; 0: none */
  uint64_t states;      /* number of Lua states in the group */
} TagGroup;

typedef struct Tags {
  int by;               /* properties by which tags distinguish samples, a sum of TAGS_BY* */
  const ReadProfile *r;     /* profile that is read; set by the client's callback 'head' */
  /* The combinations of properties that samples have. The index of a combination is its tag. */
  Tag *list;
  size_t n, size;       /* number of tags, capacity */
  IdMap bykey;          /* maps each combination of properties to its tag */
  /* Names of scripts, offsets in ReadProfile.text. TAGS_STATES + i is the number of the place
     (Tag.group) of all states of the script names[i]. */
  uint32_t names[TAGS_STATES];
  uint32_t nnames;      /* number of scripts in 'names' */
  uint64_t spilled;     /* number of sampling periods that are counted with tag 0 because there are
                           TAGS_MOST tags */
  /* The groups of Lua states that the output shows separately. Set by tags_finish. */
  TagGroup groups[TAGS_GROUPS];
  uint32_t ngroups;     /* number of elements of 'groups', at least 1; set by tags_finish */
  uint32_t groupof[TAGS_GROUPS];  /* maps each place to the index of its group in 'groups'; set by
                                     tags_finish */
} Tags;

/* Initializes *t without combinations of properties. 'by' selects the properties: a sum of
   TAGS_BYLABELS, TAGS_BYSTATE, ..., or 0. Returns 0 if out of memory; call tags_free in either
   case. */
int tags_init (Tags *t, int by);

void tags_free (Tags *t);

/* Returns the tag of a sample: the number of its combination of Lua state (the client's current
   one), thread and label set 'labels'; creates it if needed. If there are TAGS_MOST tags, returns 0
   and adds 'count', the sampling periods that the sample represents, to 'spilled'. Returns
   TAGS_NONE if out of memory. */
uint32_t tags_at (Tags *t, const ReaderClient *client, uint32_t labels, uint64_t count);

#define TAGS_NONE	UINT32_MAX

/* Divides the Lua states into the groups that the output shows separately, and maps each Tag.group
   to one of them. Call it after the last call of tags_at. Stores in 'left' the numbers of states
   without a group of their own, and of samples without a tag of their own. */
void tags_finish (Tags *t, const ReadProfile *r, uint64_t *left);

/* Returns the index in 'groups' of the group to which a tag belongs. Call it after tags_finish. */
static inline uint32_t tags_group (const Tags *t, uint32_t tag) {
  return t->groupof[t->list[tag].group];
}

/* largest size of a group's name with its NUL, bytes */
#define TAGS_TEXT	(READER_MAXNAME + 32)

/* Writes the name of a group, such as "3 worker" (state 3), "worker" (all its states) or "(12
   others)". Returns the length. Call it after tags_finish. */
size_t tags_groupname (const Tags *t, uint32_t group, char text[TAGS_TEXT]);

#define TAGS_LABELS	8192  /* largest text of a label set, bytes */

/* Writes a label set as "[route=/checkout user=5]", without a NUL. Cuts a text above TAGS_LABELS
   bytes, after a complete UTF-8 character. Returns the length. */
size_t tags_labels (const ReadProfile *r, uint32_t set, char text[TAGS_LABELS]);

#endif
