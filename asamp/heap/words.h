/* SPDX-License-Identifier: MIT */
/*
** Descriptions of references in terms of Lua: `["close"]`, `upvalue "listeners" of on
** (app.lua:3)`, `local "queue" of serve (app.lua:40)`. All text is UTF-8 and contains only
** printable characters.
*/
#ifndef asamp_words_h
#define asamp_words_h

#include "graph.h"

#include <stddef.h>

#define WORDS_MOST	512

/*
** Writes the n bytes at s, escaped for use between quotes, into 'to' (a buffer of 'size' bytes;
** a longer text is cut and ends with an ellipsis). Returns the length.
*/
size_t words_quoted (char *to, size_t size, const char *s, size_t n);

/*
** Describes a function or prototype v: "on (app.lua:3)", "app.lua:7" if it has no name, "main
** chunk (app.lua)"; for any other object "a C function" or its name.
*/
void words_function (const Graph *g, uint32_t v, char to[WORDS_MOST]);

/*
** Describes the step by which 'from' holds 'to'. If 'merged' is 1, the step represents several
** ("[1..n]"). The result is empty for the value of an upvalue, because the step before it
** describes it. For 'to' = 0 it describes the memory of the state itself.
*/
void words_step (const Graph *g, uint32_t from, uint32_t to, Way way, int merged,
                 char out[WORDS_MOST]);

/* Returns the name of a kind of objects: "table", "string", ... */
const char *words_kind (int kind);

#endif
