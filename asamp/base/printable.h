/* SPDX-License-Identifier: MIT */
/*
** Makes text safe for a terminal. Names, paths and labels come from programs, files and
** environments, and may have any characters. A terminal interprets escape sequences and characters
** that change the direction of text. Invisible characters make different names appear equal.
** lualib/asamp/show/layout.lua replaces the same characters in the output of the command asamp.
*/
#ifndef asamp_printable_h
#define asamp_printable_h

#include <stddef.h>

/*
** Returns 1 if the character at s (n bytes of valid UTF-8) must be replaced. These are control
** characters (U+0000 to U+001F, U+007F to U+009F), U+061C, U+180E, U+200B, U+200E, U+200F, U+2028
** to U+202E, U+2060 to U+206F, U+FEFF, U+FFF9 to U+FFFB, U+E0000 to U+E007F.
*/
int printable_isobeyed (const unsigned char *s, size_t n);

/*
** Replaces each character for which printable_isobeyed returns 1, and each byte that is not part of
** valid UTF-8, by "?", in place.
*/
void printable (char *text);

#endif
