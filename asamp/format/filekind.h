/* SPDX-License-Identifier: MIT */
/*
** Detection of a file's type from its first bytes, so that no other file is mistaken for a
** profile and error messages can name the type.
*/
#ifndef asamp_filekind_h
#define asamp_filekind_h

#include <stddef.h>

enum FileKind {
  FILEKIND_UNKNOWN,
  FILEKIND_NOTHING,      /* an empty file */
  FILEKIND_PROFILE,      /* a VMProf log written by asamp */
  FILEKIND_LOG,          /* a VMProf log of another program, or a file that resembles one */
  FILEKIND_HEAP,         /* a heap snapshot (heapformat.h) */
  FILEKIND_PPROF, FILEKIND_FIREFOX, FILEKIND_SPEEDSCOPE, FILEKIND_COLLAPSED, FILEKIND_JSON,
  FILEKIND_PAGE,         /* a page written by asamp view */
  FILEKIND_HTML, FILEKIND_PERF, FILEKIND_ELF, FILEKIND_PACKED, FILEKIND_SCRIPT, FILEKIND_TEXT
};

/* Number of bytes at the start of a file that are sufficient. */
#define FILEKIND_HEAD	4096

/*
** Returns the type of a file whose first n bytes (at most FILEKIND_HEAD, not compressed) are
** 'head'.
*/
enum FileKind filekind_of (const unsigned char *head, size_t n);

/*
** Returns the type of an open file, compressed or not. The file's position does not matter and
** is not changed.
*/
enum FileKind filekind_offile (int fd);

/* Returns the name of a type, for example "a pprof profile"; NULL: there is none. */
const char *filekind_name (enum FileKind kind);

/*
** Returns a hint what to do with such a file, for example "`go tool pprof` reads it"; NULL:
** there is none.
*/
const char *filekind_remedy (enum FileKind kind);

#endif
