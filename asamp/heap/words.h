/* SPDX-License-Identifier: MIT */
/* Describes references in terms of Lua: `["close"]`, `upvalue "listeners" of on (app.lua:3)`,
   `local "queue" of serve (app.lua:40)`. Texts are valid UTF-8, safe for terminals, and cut with an
   ellipsis if they are too long. Nothing is allocated. */
#ifndef asamp_words_h
#define asamp_words_h

#include "graph.h"

#include <stddef.h>

/* Largest size of the text that describes an object or a reference, bytes with the NUL. */
#define WORDS_MOST	512

/* Writes the n bytes s to 'to', escaped as in a quoted string. A text that does not fit into 'size'
   bytes is cut and ends with an ellipsis. Returns the number of bytes written, without the NUL. */
size_t words_quoted (char *to, size_t size, const char *s, size_t n);

/* Describes the function or prototype v: "on (app.lua:3)", "app.lua:7", "main chunk (app.lua)" or
   "C function NAME". Any other object is described as "a C function". */
void words_function (const Graph *g, uint32_t v, char to[WORDS_MOST]);

/* Describes the reference from object 'from' to object 'to' or, with 'merged' 1, several such
   references, for example as "[1..n]". If 'to' is 0, describes the Lua state's own memory. Writes
   "" for the reference from an upvalue to its value. */
void words_step (const Graph *g, uint32_t from, uint32_t to, Way way, int merged,
                 char out[WORDS_MOST]);

/* Returns 1 if v is the registry. */
int words_isregistry (const Graph *g, uint32_t v);

/* Returns the name of a kind of object, such as "table". HEAP_KINDS is the Lua state's own
   memory. */
const char *words_kind (int kind);

#endif
