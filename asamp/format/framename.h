/* SPDX-License-Identifier: MIT */
/*
** Composes and parses the names of frames, "py:name:line:file" or "n:symbol:0:library".
** The functions allocate nothing. Invariant:
**   FN1  a composed name contains exactly three colons, is valid UTF-8 and has at most
**        FRAMENAME_LIMIT bytes.
*/
#ifndef asamp_framename_h
#define asamp_framename_h

#include <stddef.h>
#include <stdint.h>

#define FRAMENAME_LIMIT	1023

/*
** Compose "py:name:line:source" and "n:symbol:0:library" in 'out' (FRAMENAME_LIMIT + 1 bytes). In
** the fields, each colon or control character becomes ';', each invalid byte U+FFFD. A "@" or "="
** at the start of 'source' is removed, unless it is the only character. An empty name becomes "?",
** an empty source or library "-". A long name or symbol is cut at its end, a long source or library
** at its start.
*/
void framename_lua (char *out, const char *name, int line,
                    const char *source);
void framename_native (char *out, const char *symbol, const char *library);

/*
** Returns the name of a frame that represents no code. 'id' must be one for which
** frameids_isnobodys returns 1. If the frame represents a kind of block or copy, this kind must
** exist (sample.h).
*/
const char *framename_nobodys (uint64_t id);

/* The fields of a name. 'name' and 'file' point into the text that was parsed. */
typedef struct FrameName {
  const char *name;    /* 'length' bytes, not NUL-terminated */
  size_t length;
  const char *file;    /* source or library, up to the end of the text; "-": unknown */
  uint64_t line;       /* line of the definition; 0: unknown */
  int native;          /* 1: a native function */
} FrameName;

/* Splits 'text', the name of the frame 'id', into its fields. A text with fewer than three colons
   comes from another writer. It is the name of a function, which is native if 'id' is odd. */
void framename_parse (FrameName *f, const char *text, uint64_t id);

/*
** Returns 1 if the n bytes have the form of a composed name: the prefix, three colons, digits
** between the last two, and at most FRAMENAME_LIMIT bytes. UTF-8 is not checked.
*/
int framename_isours (const char *text, size_t n);

#endif
