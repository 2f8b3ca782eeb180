/* SPDX-License-Identifier: MIT */
/* Makes text safe for a terminal: replaces control characters, characters that change the
   direction of text, and invisible ones. Names and paths come from programs and files.
   lualib/asamp/show/layout.lua replaces the same characters. */
#ifndef asamp_printable_h
#define asamp_printable_h

#include <stddef.h>

/* Returns 1 if the UTF-8 character at s (n bytes) must be replaced: U+0000 to U+001F, U+007F to
   U+009F, U+061C, U+180E, U+200B, U+200E, U+200F, U+2028 to U+202E, U+2060 to U+206F, U+FEFF,
   U+FFF9 to U+FFFB, U+E0000 to U+E007F. */
int printable_isobeyed (const unsigned char *s, size_t n);

/* Replaces in 'text' every character for which printable_isobeyed returns 1, and every invalid
   byte, by "?". */
void printable (char *text);

#endif
