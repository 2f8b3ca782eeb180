/* SPDX-License-Identifier: MIT */
/* Detects the type of a file from its first bytes, so that files of other types are neither read as
   profiles nor overwritten with profiles, and error messages name the type. */
#ifndef asamp_filekind_h
#define asamp_filekind_h

#include <stddef.h>

enum FileKind {
  FILEKIND_UNKNOWN,
  FILEKIND_NOTHING,      /* an empty file */
  FILEKIND_PROFILE,      /* a VMProf log of the interpreter "lua", as asamp writes it */
  FILEKIND_LOG,          /* a VMProf log of another interpreter, or a file that resembles a log */
  FILEKIND_HEAP,         /* a heap snapshot (heapformat.h) */
  FILEKIND_PPROF, FILEKIND_FIREFOX, FILEKIND_SPEEDSCOPE, FILEKIND_COLLAPSED,
  FILEKIND_JSON,         /* a JSON file that is none of the types above */
  FILEKIND_PAGE,         /* an HTML page written by the command "asamp view" */
  FILEKIND_HTML, FILEKIND_PERF, FILEKIND_ELF,
  FILEKIND_PACKED,       /* compressed, but not with gzip */
  FILEKIND_SCRIPT,       /* a script with "#!", or a binary chunk of Lua */
  FILEKIND_TEXT
};

/* Number of bytes at the start of a file from which its type is determined. */
#define FILEKIND_HEAD	4096

/*
** Returns the type of a file whose first n bytes (at most FILEKIND_HEAD, not compressed) are
** 'head'.
*/
enum FileKind filekind_of (const unsigned char *head, size_t n);

/*
** Returns the type of an open file. If the file is compressed with gzip, the type is that of its
** contents. Returns FILEKIND_UNKNOWN if the file cannot be read or is not seekable. Neither uses
** nor changes the position of 'fd'.
*/
enum FileKind filekind_offile (int fd);

/* Returns the name of a type, for example "a pprof profile"; NULL for FILEKIND_UNKNOWN. */
const char *filekind_name (enum FileKind kind);

/* Returns advice for a file of the type, for example "`go tool pprof` reads it"; or NULL. */
const char *filekind_remedy (enum FileKind kind);

#endif
