/* SPDX-License-Identifier: MIT */
/*
** The limits of writer and reader (bounds.h) beyond which data are dropped: the key, the value and
** the message of each limit. Code that applies a limit counts the dropped items in an array
** counts[LEFT_N]. Code that displays the profile prints the messages of the counts above 0.
** Independent of Lua and files. doc/profile-format.md has the table for users.
*/
#ifndef asamp_readerleft_h
#define asamp_readerleft_h

#include <stdint.h>

typedef enum ReadLeft {
  /* counted by the writer, in the meta record asamp.left */
  LEFT_CHUNKS, LEFT_FUNCTIONS, LEFT_CLASSES, LEFT_TEXTS, LEFT_NATIVES, LEFT_BEFORE,
  /* counted by the writer; the first two also by the reader */
  LEFT_PATHS, LEFT_STEPS, LEFT_LABELNAMES, LEFT_LABELVALUES, LEFT_LABELSETS,
  /* counted by the reader */
  LEFT_NODES, LEFT_IDS, LEFT_NAMES, LEFT_NAMELESS, LEFT_LONGNAMES, LEFT_ALIASES,
  LEFT_TYPES, LEFT_KINDS,
  LEFT_OPEN, LEFT_FOLLOWED, LEFT_UNFOLLOWED, LEFT_RUNS, LEFT_METAS, LEFT_COUNTS,
  LEFT_STATES, LEFT_STREAMS, LEFT_THREADS, LEFT_SETS, LEFT_LABELS,
  /* counted by the totals (readersum.h); for the first four, the samples beyond the limit count at
     node 0, the root of the call tree */
  LEFT_SITES, LEFT_LIVES, LEFT_HELD, LEFT_ROWS, LEFT_COLLECTIONS, LEFT_MARKS, LEFT_MARKNAMES,
  LEFT_PICTURES, LEFT_PICTUREROWS,
  /* Numbers of Lua states or of samples that files for other tools do not distinguish, because of
     the limits of tags.h, which counts them. */
  LEFT_TOGETHER, LEFT_SCRIPTS, LEFT_TAGS,
  LEFT_N
} ReadLeft;

/* Returns the key of a limit: its name in Lua tables, in JSON reports and in the writer's meta
   record asamp.left. */
const char *readerleft_key (ReadLeft what);
/* Returns the value of the limit. */
uint64_t readerleft_limit (ReadLeft what);

#define READERLEFT_TEXT	256  /* bytes of a message with its NUL */

/*
** Writes the message for a count above 0, such as "more than 2,097,152 ...: 5 frames ...", without
** a full stop at its end.
*/
void readerleft_text (ReadLeft what, uint64_t count, char text[READERLEFT_TEXT]);

/*
** Adds the counts in the value of the writer's meta record asamp.left, "key count key count ...",
** to counts[LEFT_N]. Ignores unknown keys, and the keys of limits that only the reader counts.
*/
void readerleft_parse (uint64_t *counts, const char *meta);

#endif
