/* SPDX-License-Identifier: MIT */
/*
** The text of a frame's name, "py:name:line:file" or "n:symbol:0:library": here
** it is put together, and here it is taken apart. Invariant:
**   FN1 a name has exactly three colons, is valid UTF-8 and has at most
**       FRAMENAME_LIMIT bytes.
*/
#ifndef asamp_framename_h
#define asamp_framename_h

#include <stddef.h>
#include <stdint.h>

#define FRAMENAME_LIMIT	1023

/*
** Compose "py:name:line:source" and "n:symbol:0:library" into 'out'
** (FRAMENAME_LIMIT + 1 bytes). Colons and control characters become ';',
** what is no UTF-8 becomes U+FFFD, "@" and "=" before a source go unless it has
** no other character, a long name loses its end and a long file its beginning.
*/
void framename_lua (char *out, const char *name, int line,
                    const char *source);
void framename_native (char *out, const char *symbol, const char *library);

/* What a frame of nobody's code is called (frameids.h). */
const char *framename_nobodys (uint64_t id);

typedef struct FrameName {
  const char *name;    /* 'length' bytes */
  size_t length;
  const char *file;    /* to the end of the text; "-" when it is not known */
  uint64_t line;       /* where it is defined; 0: unknown */
  int native;
} FrameName;

/* Of any text, as other writers may have it, that the frame 'id' has for a name. */
void framename_parse (FrameName *f, const char *text, uint64_t id);

/* Are n bytes a name that framename_lua or framename_native may have made? */
int framename_isours (const char *text, size_t n);

#endif
