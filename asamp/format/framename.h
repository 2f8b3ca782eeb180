/* SPDX-License-Identifier: MIT */
/*
** Composes and parses the names of frames, "py:name:line:file" or "n:symbol:0:library".
** Invariant:
**   FN1  a name contains exactly three colons, is valid UTF-8 and has at most FRAMENAME_LIMIT
**        bytes.
*/
#ifndef asamp_framename_h
#define asamp_framename_h

#include <stddef.h>
#include <stdint.h>

#define FRAMENAME_LIMIT	1023

/*
** Compose "py:name:line:source" and "n:symbol:0:library" in 'out' (FRAMENAME_LIMIT + 1 bytes).
** Colons and control characters are replaced by ';', invalid UTF-8 by U+FFFD. A "@" or "=" at
** the start of the source is removed unless it is the only character. A long name is cut at its
** end, a long file name at its start.
*/
void framename_lua (char *out, const char *name, int line,
                    const char *source);
void framename_native (char *out, const char *symbol, const char *library);

/* Returns the name of a frame that represents no code (frameids.h). */
const char *framename_nobodys (uint64_t id);

typedef struct FrameName {
  const char *name;    /* 'length' bytes, not NUL-terminated */
  size_t length;
  const char *file;    /* up to the end of the text; "-" if not known */
  uint64_t line;       /* line of the definition; 0: not known */
  int native;
} FrameName;

/*
** Splits a frame's name, also one of another writer that has a different form; 'id' then
** decides if the frame is native.
*/
void framename_parse (FrameName *f, const char *text, uint64_t id);

/* Returns 1 if the n bytes could be a result of framename_lua or framename_native. */
int framename_isours (const char *text, size_t n);

#endif
