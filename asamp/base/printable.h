/* SPDX-License-Identifier: MIT */
/*
** Makes text safe for a terminal. Names, paths and labels come from programs, files and
** environments, and a terminal interprets escape sequences and characters that change the
** direction of text. lualib/asamp/show/layout.lua does the same for the command.
*/
#ifndef asamp_printable_h
#define asamp_printable_h

/*
** Replaces by "?", in place: control characters (U+0000 to U+001F, U+007F to U+009F), U+061C,
** U+200E, U+200F, U+2028 to U+202E, U+2066 to U+206F, U+E0000 to U+E007F, and invalid UTF-8
** bytes.
*/
void printable (char *text);

#endif
