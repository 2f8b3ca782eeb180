/* SPDX-License-Identifier: MIT */
/*
** Tags distinguish samples in files for other tools: by Lua state, OS thread and labels. A tag
** is the number of such a triple. States are combined to a limited number of groups, because
** such files cannot have a thread, a profile or a frame for each of 10,000 states. Invariants:
**
**   TG1  with at most TAGS_STATES states, each is a group; else a group consists of all states
**        of one script, for up to TAGS_STATES scripts; other states belong to the last group.
**        'left' counts states that are not distinguished for this reason;
**   TG2  tag 0 represents the last group without thread and labels. Samples with a combination
**        beyond TAGS_MOST have it, and are counted.
*/
#ifndef asamp_tags_h
#define asamp_tags_h

#include "readprofile.h"

/* Properties that are distinguished; 0: none. */
enum { TAGS_BYLABELS = 1, TAGS_BYSTATE = 2, TAGS_BYTHREAD = 4, TAGS_BYSCRIPT = 8 };

#define TAGS_GROUPS	(2 * TAGS_STATES + 1)  /* places while reading: states, scripts, others */

typedef struct Tag {
  uint32_t group;       /* while reading: a place below TAGS_GROUPS */
  uint32_t thread;      /* of the system; 0: unknown */
  uint32_t labels;      /* number of a label set; 0: none */
} Tag;

typedef struct TagGroup {
  uint32_t row;         /* row of its state; READER_NOSTATE: several states */
  uint32_t name;        /* of the script, offset in 'text'; 0: none */
  uint64_t states;
} TagGroup;

typedef struct Tags {
  int by;
  const ReadProfile *r;     /* set by the client's 'head' */
  Tag *list;
  size_t n, size;
  IdMap bykey;
  uint32_t names[TAGS_STATES];  /* of scripts, offsets in 'text' */
  uint32_t nnames;
  uint64_t spilled;     /* samples beyond the limit (TG2) */
  TagGroup groups[TAGS_GROUPS];  /* set by tags_finish */
  uint32_t ngroups;     /* at least 1 */
  uint32_t groupof[TAGS_GROUPS];  /* by place */
} Tags;

/*
** Initializes the tags. 'by': sum of TAGS_BY*. Returns 0 if there is not enough memory; tags_free
** must be called in either case.
*/
int tags_init (Tags *t, int by);
void tags_free (Tags *t);

/*
** Returns the tag of the client's current event; 'count': samples to count beyond the limit
** (TG2). Returns TAGS_NONE if there is not enough memory.
*/
uint32_t tags_at (Tags *t, const ReaderClient *client, uint32_t labels, uint64_t count);

#define TAGS_NONE	UINT32_MAX

/*
** After reader_read: determines the groups, and adds the states and samples not distinguished
** to 'left' (LEFT_N counts).
*/
void tags_finish (Tags *t, const ReadProfile *r, uint64_t *left);

/* Returns the group of a tag, after tags_finish. */
static inline uint32_t tags_group (const Tags *t, uint32_t tag) {
  return t->groupof[t->list[tag].group];
}

#define TAGS_TEXT	(READER_MAXNAME + 32)

/* Writes "3 worker", "worker" or "(12 others)" to 'text' and returns its length. */
size_t tags_groupname (const Tags *t, uint32_t group, char text[TAGS_TEXT]);

#define TAGS_LABELS	8192

/*
** Writes "[route=/checkout user=5]" of a label set to 'text', truncated if necessary, and
** returns its length.
*/
size_t tags_labels (const ReadProfile *r, uint32_t set, char text[TAGS_LABELS]);

#endif
