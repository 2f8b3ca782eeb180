/* SPDX-License-Identifier: MIT */
/*
** What the limits of writer and reader leave out: one place for what it is called,
** how much is the limit, and the sentence that says it. Whoever meets a limit
** counts; whoever shows the profile says what was counted. Knows no Lua and no
** file. doc/profile-format.md has the table for people.
*/
#ifndef asamp_readerleft_h
#define asamp_readerleft_h

#include <stdint.h>

typedef enum ReadLeft {
  /* the writer's, as the file tells them */
  LEFT_CHUNKS, LEFT_FUNCTIONS, LEFT_CLASSES, LEFT_TEXTS, LEFT_NATIVES, LEFT_BEFORE,
  /* of both */
  LEFT_PATHS, LEFT_STEPS, LEFT_LABELNAMES, LEFT_LABELVALUES, LEFT_LABELSETS,
  /* the reader's */
  LEFT_NODES, LEFT_IDS, LEFT_NAMES, LEFT_NAMELESS, LEFT_LONGNAMES, LEFT_ALIASES,
  LEFT_TYPES, LEFT_KINDS,
  LEFT_OPEN, LEFT_FOLLOWED, LEFT_UNFOLLOWED, LEFT_RUNS, LEFT_METAS, LEFT_COUNTS,
  LEFT_STATES, LEFT_STREAMS, LEFT_THREADS, LEFT_SETS, LEFT_LABELS,
  /* those of who adds up: node 0 has what is left */
  LEFT_SITES, LEFT_LIVES, LEFT_HELD, LEFT_ROWS, LEFT_COLLECTIONS, LEFT_MARKS, LEFT_MARKNAMES,
  LEFT_PICTURES, LEFT_PICTUREROWS,
  /* those of files for other tools */
  LEFT_TOGETHER, LEFT_SCRIPTS, LEFT_TAGS,
  LEFT_N
} ReadLeft;

/* By this name Lua and JSON know it, and the writer's meta. */
const char *readerleft_key (ReadLeft what);
uint64_t readerleft_limit (ReadLeft what);

#define READERLEFT_TEXT	256

/* "more than 2,097,152 …: 5 frames …", without an end, for a count above 0. */
void readerleft_text (ReadLeft what, uint64_t count, char text[READERLEFT_TEXT]);

/* Reads the writer's meta "key count key count …" into counts[LEFT_N]. */
void readerleft_told (uint64_t *counts, const char *meta);

#endif
