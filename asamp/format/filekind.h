/* SPDX-License-Identifier: MIT */
/*
** What sort of file is this? Told by its first bytes, so that nobody's file is
** taken for a profile, and a message can say what was found instead.
*/
#ifndef asamp_filekind_h
#define asamp_filekind_h

#include <stddef.h>

enum FileKind {
  FILEKIND_UNKNOWN,
  FILEKIND_NOTHING,      /* no byte */
  FILEKIND_PROFILE,      /* a VMProf log that this sampler has written */
  FILEKIND_LOG,          /* one of another writer, or what looks like one */
  FILEKIND_HEAP,         /* a snapshot of a heap (heap/heapformat.h) */
  FILEKIND_PPROF, FILEKIND_FIREFOX, FILEKIND_SPEEDSCOPE, FILEKIND_COLLAPSED, FILEKIND_JSON,
  FILEKIND_PAGE,         /* of asamp view */
  FILEKIND_HTML, FILEKIND_PERF, FILEKIND_ELF, FILEKIND_PACKED, FILEKIND_SCRIPT, FILEKIND_TEXT
};

/* The bytes that are enough. */
#define FILEKIND_HEAD	4096

/* The first n bytes, at most FILEKIND_HEAD, not compressed. */
enum FileKind filekind_of (const unsigned char *head, size_t n);

/* The same of an open file, compressed or not, wherever its position is. */
enum FileKind filekind_offile (int fd);

/* "a pprof profile"; NULL: nothing is known of it. */
const char *filekind_name (enum FileKind kind);

/* What else can be done with it: "go tool pprof reads it"; or NULL. */
const char *filekind_remedy (enum FileKind kind);

#endif
