/* SPDX-License-Identifier: MIT */
/* Detects the type of a file from its first bytes, so that a file that is not a profile is neither
   read as one nor overwritten. */
#ifndef asamp_filekind_h
#define asamp_filekind_h

#include <stddef.h>

enum FileKind {
  FILEKIND_UNKNOWN,
  FILEKIND_NOTHING,      /* an empty file */
  FILEKIND_PROFILE,      /* a VMProf log of asamp */
  FILEKIND_LOG,          /* a VMProf log that asamp did not write */
  FILEKIND_HEAP,         /* a heap snapshot (heapformat.h) */
  FILEKIND_PPROF, FILEKIND_FIREFOX, FILEKIND_SPEEDSCOPE, FILEKIND_COLLAPSED,
  FILEKIND_JSON,         /* JSON of any other type */
  FILEKIND_PAGE,         /* a page of "asamp view" */
  FILEKIND_HTML, FILEKIND_PERF, FILEKIND_ELF,
  FILEKIND_PACKED,       /* compressed in another format than gzip */
  FILEKIND_SCRIPT,       /* a script that starts with "#!", or a binary Lua chunk */
  FILEKIND_TEXT
};

/* Number of bytes at the start of a file from which its type is detected. */
#define FILEKIND_HEAD	4096

/* Returns the type of a file that starts with the n bytes 'head', n <= FILEKIND_HEAD. 'head' of a
   gzip file must be decompressed first; otherwise the result is FILEKIND_UNKNOWN. */
enum FileKind filekind_of (const unsigned char *head, size_t n);

/* Returns the type of an open file; of a gzip file, the type of its content. Returns
   FILEKIND_UNKNOWN if the file cannot be read at an offset (pread), or is a damaged gzip file. The
   file offset does not change. */
enum FileKind filekind_offile (int fd);

/* Returns a name such as "a pprof profile"; NULL for FILEKIND_UNKNOWN. */
const char *filekind_name (enum FileKind kind);

/* Returns advice on how to open files of this type, such as "`go tool pprof` reads it", or NULL. */
const char *filekind_remedy (enum FileKind kind);

#endif
