/* SPDX-License-Identifier: MIT */
/*
** Descriptions of references in terms of Lua: `["close"]`, `upvalue "listeners" of on
** (app.lua:3)`, `local "queue" of serve (app.lua:40)`. They have none of the characters of
** printable.h, and are valid UTF-8. The description of a function in a step is cut, and ends with an
** ellipsis, if the step would not fit. The functions allocate nothing.
*/
#ifndef asamp_words_h
#define asamp_words_h

#include "graph.h"

#include <stddef.h>

#define WORDS_MOST	512	/* bytes of a description, with its NUL */

/*
** Writes the n bytes at s, escaped for use between quotes, into 'to', a buffer of 'size' bytes. If
** they do not fit, the text is cut and ends with an ellipsis. Returns the length of the text.
*/
size_t words_quoted (char *to, size_t size, const char *s, size_t n);

/*
** Describes a function or prototype v: "on (app.lua:3)"; "app.lua:7" if it has no name; "main chunk
** (app.lua)". A C function is "C function NAME". Otherwise, also for GRAPH_NONE: "a C function".
*/
void words_function (const Graph *g, uint32_t v, char to[WORDS_MOST]);

/*
** Describes the step by which 'from' holds 'to'. If 'merged' is 1, the step represents several
** references ("[1..n]"). The result is empty for the step from an upvalue to its value, because the
** step to the upvalue describes both. If 'to' is 0, describes the memory of the state itself.
*/
void words_step (const Graph *g, uint32_t from, uint32_t to, Way way, int merged,
                 char out[WORDS_MOST]);

/* Returns the name of a kind: "table", "string", ...; HEAP_KINDS: that of the state's memory. */
const char *words_kind (int kind);

#endif
