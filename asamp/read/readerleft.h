/* SPDX-License-Identifier: MIT */
/* The limits beyond which the writer or the reader drops data (doc/profile-format.md has a table).
   A limit has a key, which is a short name, a value, and a message for users. The code that applies
   a limit counts the dropped items in an array with an element for each ReadLeft. */
#ifndef asamp_readerleft_h
#define asamp_readerleft_h

#include <stdint.h>

typedef enum ReadLeft {
  /* counted by the writer, which stores the counts in the meta record asamp.left */
  LEFT_CHUNKS, LEFT_FUNCTIONS, LEFT_CLASSES, LEFT_TEXTS, LEFT_NATIVES, LEFT_BEFORE,
  /* counted by the writer as well (asamp.left); the reader adds its own counts of LEFT_PATHS and
     LEFT_STEPS */
  LEFT_PATHS, LEFT_STEPS, LEFT_LABELNAMES, LEFT_LABELVALUES, LEFT_LABELSETS,
  /* counted by the reader */
  LEFT_NODES, LEFT_IDS, LEFT_NAMES, LEFT_NAMELESS, LEFT_LONGNAMES, LEFT_ALIASES,
  LEFT_TYPES, LEFT_KINDS,
  LEFT_OPEN, LEFT_FOLLOWED, LEFT_UNFOLLOWED, LEFT_RUNS, LEFT_METAS, LEFT_COUNTS,
  LEFT_STATES, LEFT_STREAMS, LEFT_THREADS, LEFT_SETS, LEFT_LABELS,
  /* counted when totals are computed (readersum.h) */
  LEFT_SITES, LEFT_LIVES, LEFT_HELD, LEFT_ROWS, LEFT_COLLECTIONS, LEFT_MARKS, LEFT_MARKNAMES,
  LEFT_PICTURES, LEFT_PICTUREROWS,
  /* counted by tags.h, when a profile is converted for other tools */
  LEFT_TOGETHER, LEFT_SCRIPTS, LEFT_TAGS,
  LEFT_N
} ReadLeft;

/* Returns the key of a limit: its name in reports and in the meta record asamp.left. */
const char *readerleft_key (ReadLeft what);
/* Returns the largest number of items that a limit permits. */
uint64_t readerleft_limit (ReadLeft what);

#define READERLEFT_TEXT	384  /* largest size of a message with its NUL, bytes */

/* Writes the message about 'count' (above 0) dropped items, without a full stop. */
void readerleft_text (ReadLeft what, uint64_t count, char text[READERLEFT_TEXT]);

/* Adds the counts of a meta record asamp.left ("key count key count ..."), which the writer has
   counted, to 'counts'. Ignores unknown keys. */
void readerleft_parse (uint64_t *counts, const char *meta);

#endif
