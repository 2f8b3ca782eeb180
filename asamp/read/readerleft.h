/* SPDX-License-Identifier: MIT */
/*
** The data that limits of writer and reader drop: key, limit and message of each. Code that
** applies a limit counts; code that displays the profile prints the counts. Independent of Lua
** and files. doc/profile-format.md has the table for users.
*/
#ifndef asamp_readerleft_h
#define asamp_readerleft_h

#include <stdint.h>

typedef enum ReadLeft {
  /* of the writer, read from the file */
  LEFT_CHUNKS, LEFT_FUNCTIONS, LEFT_CLASSES, LEFT_TEXTS, LEFT_NATIVES, LEFT_BEFORE,
  /* of both */
  LEFT_PATHS, LEFT_STEPS, LEFT_LABELNAMES, LEFT_LABELVALUES, LEFT_LABELSETS,
  /* of the reader */
  LEFT_NODES, LEFT_IDS, LEFT_NAMES, LEFT_NAMELESS, LEFT_LONGNAMES, LEFT_ALIASES,
  LEFT_TYPES, LEFT_KINDS,
  LEFT_OPEN, LEFT_FOLLOWED, LEFT_UNFOLLOWED, LEFT_RUNS, LEFT_METAS, LEFT_COUNTS,
  LEFT_STATES, LEFT_STREAMS, LEFT_THREADS, LEFT_SETS, LEFT_LABELS,
  /* of the totals: node 0 has the rest */
  LEFT_SITES, LEFT_LIVES, LEFT_HELD, LEFT_ROWS, LEFT_COLLECTIONS, LEFT_MARKS, LEFT_MARKNAMES,
  LEFT_PICTURES, LEFT_PICTUREROWS,
  /* of files for other tools */
  LEFT_TOGETHER, LEFT_SCRIPTS, LEFT_TAGS,
  LEFT_N
} ReadLeft;

/* Returns the key, which Lua, JSON and the writer's meta use. */
const char *readerleft_key (ReadLeft what);
uint64_t readerleft_limit (ReadLeft what);

#define READERLEFT_TEXT	256

/*
** Writes the message, such as "more than 2,097,152 ...: 5 frames ...", without a final point,
** for a count above 0.
*/
void readerleft_text (ReadLeft what, uint64_t count, char text[READERLEFT_TEXT]);

/* Adds the writer's meta "key count key count ..." to counts[LEFT_N]. */
void readerleft_parse (uint64_t *counts, const char *meta);

#endif
