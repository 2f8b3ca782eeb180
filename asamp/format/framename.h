/* SPDX-License-Identifier: MIT */
/*
** Composes and parses names of frames, "py:name:line:file" or "n:symbol:0:library". Nothing is
** allocated.
**
**   FN1  a composed name has exactly three colons, is valid UTF-8 and has at most FRAMENAME_LIMIT
**        bytes.
*/
#ifndef asamp_framename_h
#define asamp_framename_h

#include <stddef.h>
#include <stdint.h>

#define FRAMENAME_LIMIT	1023

/* Composes "py:name:line:source" in 'out' (FRAMENAME_LIMIT + 1 bytes). Colons and control
   characters become ';', invalid bytes U+FFFD; a leading '@' or '=' of the source is removed.
   Empty parts become "?" or "-". Long names lose their end, long sources their start. */
void framename_lua (char *out, const char *name, int line,
                    const char *source);
/* Composes the name "n:symbol:0:library" of a native function, with the rules of framename_lua. */
void framename_native (char *out, const char *symbol, const char *library);

/* Returns the name of a frame that represents no code (frameids_isnobodys). If the id represents a
   kind, the kind must exist. */
const char *framename_nobodys (uint64_t id);

/* The fields of a name; they point into the parsed text. */
typedef struct FrameName {
  const char *name;    /* not NUL-terminated */
  size_t length;
  const char *file;    /* source or library, to the end of the text; "-": unknown */
  uint64_t line;       /* line of the definition; 0: unknown */
  int native;          /* 1: a native function */
} FrameName;

/* Splits the name of frame 'id'. A text with fewer than three colons is not from asamp: the whole
   text is then the name of the function, which is native if 'id' is odd. */
void framename_parse (FrameName *f, const char *text, uint64_t id);

/* Returns 1 if the n bytes have the form of a composed name. UTF-8 is not checked. */
int framename_isours (const char *text, size_t n);

#endif
