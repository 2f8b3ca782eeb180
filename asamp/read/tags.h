/* SPDX-License-Identifier: MIT */
/*
** Tags distinguish samples in files for other tools: by Lua state, OS thread and labels. A tag is
** the number of a triple (place, thread, label set). A place represents one state, all states of
** one script, or all other states. After reading, places are combined to a limited number of
** groups, because files for other tools cannot have a thread, a profile or a frame for each of
** 10,000 states. Invariants:
**
**   TG1  if there are at most TAGS_STATES states, each state is a group, unless 'by' has
**        TAGS_BYSCRIPT. Otherwise each of up to TAGS_STATES scripts is a group with all its states,
**        and the states of further scripts belong to the last group. tags_finish counts the states
**        that are not distinguished because of the limits;
**   TG2  tag 0 belongs to the last group, and has no thread and no labels. There are at most
**        TAGS_MOST tags; samples with another triple have tag 0, and are counted in 'spilled'.
*/
#ifndef asamp_tags_h
#define asamp_tags_h

#include "readprofile.h"

/* Bits of Tags.by: the properties by which samples are distinguished. */
enum { TAGS_BYLABELS = 1, TAGS_BYSTATE = 2, TAGS_BYTHREAD = 4, TAGS_BYSCRIPT = 8 };

/*
** Number of places, and largest number of groups. The places below TAGS_STATES represent the first
** rows of ReadProfile.states, the next TAGS_STATES places represent scripts, and the last place
** represents all other states.
*/
#define TAGS_GROUPS	(2 * TAGS_STATES + 1)

/* The triple of a tag. A member is 0 if samples are not distinguished by its property (Tags.by). */
typedef struct Tag {
  uint32_t group;       /* number of a place (see the head) until tags_finish; tags_group converts
                           it to a group */
  uint32_t thread;      /* system number of the OS thread; 0: unknown */
  uint32_t labels;      /* number of a label set; 0: none */
} Tag;

typedef struct TagGroup {
  /* For a group of one Lua state: its index in ReadProfile.states. For the group of a script or of
     all other states: READER_NOSTATE. */
  uint32_t row;
  uint32_t name;        /* name of the script, offset in 'text'; 0: none */
  uint64_t states;      /* number of Lua states in the group */
} TagGroup;

typedef struct Tags {
  int by;               /* sum of TAGS_BY*: the properties by which samples are distinguished */
  const ReadProfile *r;     /* set by the client's callback 'head' */
  /* list[i]: the place, thread and label set that the samples with tag number i have. */
  Tag *list;
  size_t n, size;       /* number of tags, capacity */
  IdMap bykey;          /* maps triples (place, thread, label set) to tags */
  uint32_t names[TAGS_STATES];  /* names of scripts, offsets in 'text'; names[i] belongs to the
				   place TAGS_STATES + i */
  uint32_t nnames;      /* number of scripts in 'names' */
  uint64_t spilled;     /* sum of ReadSample.count over the samples that have tag 0 because there
                           are TAGS_MOST tags (TG2) */
  /* The groups of Lua states. tags_finish sets 'groups', 'ngroups' and 'groupof'. */
  TagGroup groups[TAGS_GROUPS];
  uint32_t ngroups;     /* number of groups of Lua states, at least 1 */
  uint32_t groupof[TAGS_GROUPS];  /* index in 'groups' of the group of each place (see the head) */
} Tags;

/*
** Initializes the tags. 'by': sum of TAGS_BY*. Returns 0 if there is not enough memory; tags_free
** must be called in either case.
*/
int tags_init (Tags *t, int by);
/* Frees everything. */
void tags_free (Tags *t);

/*
** Returns the tag of the client's current event, whose label set is 'labels', and creates the tag
** if needed. Returns TAGS_NONE if there is not enough memory. If a new tag is needed and there are
** TAGS_MOST tags (TG2), adds 'count' to 'spilled' and returns 0. t->r must be set.
*/
uint32_t tags_at (Tags *t, const ReaderClient *client, uint32_t labels, uint64_t count);

#define TAGS_NONE	UINT32_MAX

/*
** Combines the Lua states of the samples into groups: a state, the states of a script, or all other
** states (TG1). To be called after reader_read has returned r; tags_at must not be called after
** that. Sets the elements of 'left' (array of LEFT_N counts) that count the states and samples that
** share a group or tag with others because of the limits.
*/
void tags_finish (Tags *t, const ReadProfile *r, uint64_t *left);

/* Returns the group of Lua states to which the samples with this tag belong. To be called after
   tags_finish. */
static inline uint32_t tags_group (const Tags *t, uint32_t tag) {
  return t->groupof[t->list[tag].group];
}

/* largest number of bytes of the name of a group of Lua states (tags_groupname), with its NUL */
#define TAGS_TEXT	(READER_MAXNAME + 32)

/*
** Writes the name of a group of Lua states to 'text' and returns its length: "3 worker" (state 3),
** "worker" (all states of a script), "(12 others)" or "(others)". To be called after tags_finish.
*/
size_t tags_groupname (const Tags *t, uint32_t group, char text[TAGS_TEXT]);

#define TAGS_LABELS	8192  /* largest number of bytes of a label set's text (tags_labels) */

/*
** Writes a label set (from 1 on) as "[route=/checkout user=5]" to 'text', truncated if necessary,
** without a NUL. Returns the length.
*/
size_t tags_labels (const ReadProfile *r, uint32_t set, char text[TAGS_LABELS]);

#endif
