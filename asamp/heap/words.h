/* SPDX-License-Identifier: MIT */
/*
** Descriptions of references in terms of Lua: `["close"]`, `upvalue "listeners" of on
** (app.lua:3)`, `local "queue" of serve (app.lua:40)`. They are valid UTF-8, without the characters
** that printable.h replaces. If the description of a step would not fit, its part that describes a
** function is cut, and ends with an ellipsis. The functions allocate nothing.
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

/* Describes a function or prototype v: "on (app.lua:3)"; without a name "app.lua:7"; "main chunk
   (app.lua)"; "C function NAME". The result is "a C function" if its name is unknown, and for
   GRAPH_NONE and other objects. */
void words_function (const Graph *g, uint32_t v, char to[WORDS_MOST]);

/*
** Describes the reference 'way' by which 'from' holds 'to'. If 'merged' is 1, the description
** represents several references ("[1..n]"). If 'to' is 0, describes the memory of the state itself.
** The result is empty for the reference from an upvalue to its value, because the description of
** the reference to the upvalue covers both.
*/
void words_step (const Graph *g, uint32_t from, uint32_t to, Way way, int merged,
                 char out[WORDS_MOST]);

/* Returns the name of a kind: "table", "string", ... For HEAP_KINDS, returns the name of the memory
   of the state itself. */
const char *words_kind (int kind);

#endif
