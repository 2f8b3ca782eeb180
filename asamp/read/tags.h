/* SPDX-License-Identifier: MIT */
/*
** What files for other tools tell samples apart by: the Lua state that took them, its OS
** thread, and their labels. A tag is such a triple, by number; its state is one of a few
** groups, for a file cannot have a thread, a profile or a frame for each of 10,000.
** Invariants:
**   TG1  while there are no more than TAGS_STATES states, each is a group; else a group has
**        all states of one script, as far as there are no more than TAGS_STATES of these;
**        what has none is of the last group, which has all the others. 'left' counts what
**        is not told apart for that;
**   TG2  tag 0 is of nobody: the last group, no thread and no labels. What finds no room
**        among TAGS_MOST has it, and is counted.
*/
#ifndef asamp_tags_h
#define asamp_tags_h

#include "readprofile.h"

/* What is told apart; 0: nothing. */
enum { TAGS_BYLABELS = 1, TAGS_BYSTATE = 2, TAGS_BYTHREAD = 4, TAGS_BYSCRIPT = 8 };

#define TAGS_GROUPS	(2 * TAGS_STATES + 1)  /* while reading: states, scripts, others */

typedef struct Tag {
  uint32_t group;       /* while reading a place below TAGS_GROUPS */
  uint32_t thread;      /* of the system; 0: not told */
  uint32_t labels;      /* number of a set; 0: none */
} Tag;

typedef struct TagGroup {
  uint32_t row;         /* of the state that it is; READER_NOSTATE: there are several */
  uint32_t name;        /* number in 'text', of the script; 0: none */
  uint64_t states;
} TagGroup;

typedef struct Tags {
  int by;
  const ReadProfile *r;     /* from the client's 'begin' on */
  Tag *list;
  size_t n, size;
  IdMap bykey;
  uint32_t names[TAGS_STATES];  /* of scripts, numbers in 'text' */
  uint32_t nnames;
  uint64_t spilled;     /* TG2: samples */
  TagGroup groups[TAGS_GROUPS];  /* after tags_finish */
  uint32_t ngroups;     /* at least 1 */
  uint32_t groupof[TAGS_GROUPS];  /* by place */
} Tags;

/* 'by': of the enumeration above, added up. 0 without memory; free it all the same. */
int tags_init (Tags *t, int by);
void tags_free (Tags *t);

/* The number of the tag of what the client is told just now; 'count': what is counted
   where TG2 is the answer. TAGS_NONE without memory. */
uint32_t tags_at (Tags *t, const ReaderClient *client, uint32_t labels, uint64_t count);

#define TAGS_NONE	UINT32_MAX

/* After reader_read: from here on tags have groups, and 'left' (LEFT_N counts) what is not
   told apart. */
void tags_finish (Tags *t, const ReadProfile *r, uint64_t *left);

/* The group of a tag, after tags_finish. */
static inline uint32_t tags_group (const Tags *t, uint32_t tag) {
  return t->groupof[t->list[tag].group];
}

#define TAGS_TEXT	(READER_MAXNAME + 32)

/* "3 worker", "worker" or "(12 others)" to 'text'; its length. */
size_t tags_groupname (const Tags *t, uint32_t group, char text[TAGS_TEXT]);

#define TAGS_LABELS	8192

/* "[route=/checkout user=5]" of a set of labels to 'text', cut if need be; its length. */
size_t tags_labels (const ReadProfile *r, uint32_t set, char text[TAGS_LABELS]);

#endif
