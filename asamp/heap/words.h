/* SPDX-License-Identifier: MIT */
/*
** What holds what, in Lua's words: `["close"]`, `upvalue "listeners" of on (app.lua:3)`,
** `local "queue" of serve (app.lua:40)`. All text is UTF-8, of printable characters.
*/
#ifndef asamp_words_h
#define asamp_words_h

#include "graph.h"

#include <stddef.h>

#define WORDS_MOST	512

/* n bytes at s as they stand between quotes. Returns the length; to has size bytes. */
size_t words_quoted (char *to, size_t size, const char *s, size_t n);

/* "on (app.lua:3)", "app.lua:7" without a name, "main chunk (app.lua)"; of a function
   or a prototype; anything else: "a C function". */
void words_function (const Graph *g, uint32_t v, char to[WORDS_MOST]);

/*
** The step by which 'from' holds 'to'. 'merged': as one of many, "[1..n]". Empty: the
** step before says it (what an upvalue holds). To object 0: what the state takes itself.
*/
void words_step (const Graph *g, uint32_t from, uint32_t to, Way way, int merged,
                 char out[WORDS_MOST]);

/* Names of kinds of objects: "table", "string", ... */
const char *words_kind (int kind);

#endif
