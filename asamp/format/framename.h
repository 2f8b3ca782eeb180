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
** Compose "py:name:line:source" and "n:symbol:0:library" in 'out' (FRAMENAME_LIMIT + 1 bytes).
** In the fields, ';' replaces a colon or control character, U+FFFD an invalid byte. A "@" or "=" at
** the start of 'source' is removed unless it is the only character. An empty name becomes "?", an
** empty source or library "-". A long name or symbol is cut at its end, a long source or library at
** its start.
*/
void framename_lua (char *out, const char *name, int line,
                    const char *source);
void framename_native (char *out, const char *symbol, const char *library);

/*
** Returns the name of a frame that represents no code. 'id': frameids_isnobodys, and if it is the
** leaf of a kind, this kind exists.
*/
const char *framename_nobodys (uint64_t id);

/* The fields of a name. 'name' and 'file' point into the text that was parsed. */
typedef struct FrameName {
  const char *name;    /* 'length' bytes, not NUL-terminated */
  size_t length;
  const char *file;    /* up to the end of the text; "-" if not known */
  uint64_t line;       /* line of the definition; 0: not known */
  int native;
} FrameName;

/*
** Splits the name of the frame 'id'. A text of another writer with fewer than three colons is the
** function's name as a whole, and native if 'id' is odd.
*/
void framename_parse (FrameName *f, const char *text, uint64_t id);

/*
** Returns 1 if the n bytes have the form of a composed name: prefix, three colons, digits between
** the last two, length. UTF-8 is not checked.
*/
int framename_isours (const char *text, size_t n);

#endif
