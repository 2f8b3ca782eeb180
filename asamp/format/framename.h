/* SPDX-License-Identifier: MIT */
/*
** Composes and parses names of frames, "py:name:line:source" or "n:symbol:0:library". Nothing is
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
   characters become ';', invalid bytes U+FFFD. A leading '@' or '=' of the source is removed. Empty
   parts become "?" or "-". A long name loses its end, a long source its start. */
void framename_lua (char *out, const char *name, int line, const char *source);
/* Composes "n:symbol:0:library", the name of a native function. Replaces colons, control
   characters, invalid bytes and empty parts as framename_lua does. */
void framename_native (char *out, const char *symbol, const char *library);

/* Returns the name of a pseudo-frame (frameids_isnobodys), such as "[minor collection]" or the name
   of a kind of block. */
const char *framename_nobodys (uint64_t id);

/* The parts of a frame's name. 'name' and 'file' point into the parsed text. */
typedef struct FrameName {
  const char *name;    /* not NUL-terminated */
  size_t length;
  const char *file;    /* path of the source or library, up to the NUL of the text; "-": unknown */
  uint64_t line;       /* line of the function's definition; 0: unknown */
  int native;          /* 1: a native function */
} FrameName;

/* Splits the name 'text' of frame 'id'. If the text has fewer than three colons, it is not from
   asamp: the whole text becomes the function's name, and 'native' is 1 if 'id' is odd. */
void framename_parse (FrameName *f, const char *text, uint64_t id);

/* Returns 1 if the n bytes have the form of a name composed by this module. Does not check for
   valid UTF-8. */
int framename_isours (const char *text, size_t n);

#endif
