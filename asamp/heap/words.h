/* SPDX-License-Identifier: MIT */
/* Describes references in terms of Lua: `["close"]`, `upvalue "listeners" of on (app.lua:3)`,
   `local "queue" of serve (app.lua:40)`. Texts are valid UTF-8 and safe for terminals; too long
   ones are cut with an ellipsis. Nothing is allocated. */
#ifndef asamp_words_h
#define asamp_words_h

#include "graph.h"

#include <stddef.h>

#define WORDS_MOST	512	/* bytes of a description, with its NUL */

/* Writes n bytes, escaped as in a quoted string. Text that does not fit into 'size' bytes is cut
   and ends with an ellipsis. Returns the number of bytes written, without the NUL. */
size_t words_quoted (char *to, size_t size, const char *s, size_t n);

/* Describes a function or prototype: "on (app.lua:3)", "app.lua:7", "main chunk (app.lua)", "C
   function NAME", or "a C function" for anything else. */
void words_function (const Graph *g, uint32_t v, char to[WORDS_MOST]);

/* Describes the reference from 'from' to 'to'; with 'merged' 1, several such references ("[1..n]").
   'to' 0: describes the state's memory. Writes "" for an upvalue's reference to its value. */
void words_step (const Graph *g, uint32_t from, uint32_t to, Way way, int merged,
                 char out[WORDS_MOST]);

/* Returns 1 if v is the registry. */
int words_isregistry (const Graph *g, uint32_t v);

/* Returns "table", "string", ...; HEAP_KINDS: the state's memory. */
const char *words_kind (int kind);

#endif
