/* SPDX-License-Identifier: MIT */
/*
** The encoding of a VMProf log: one function for each type of record; each appends to a growing
** buffer.
**
** This module defines the layout (64-bit little-endian words). It does not depend on files,
** threads, clocks or Lua. Invariants:
**   V1  every string is valid UTF-8 (a reader rejects the whole file otherwise);
**   V2  a name has the form of framename.h;
**   V3  a record of words has at most VMPROF_MAXWORDS of them. The callers ensure V3; this
**       module ensures the others.
*/
#ifndef asamp_vmprof_h
#define asamp_vmprof_h

#include "bytes.h"

#define VMPROF_MAXWORDS		65536

enum VmprofMarker {
  VMPROF_STACK = 1, VMPROF_NAME, VMPROF_TRAILER, VMPROF_INTERPRETER,
  VMPROF_HEADER, VMPROF_TIME, VMPROF_META, VMPROF_NATIVENAME,
  VMPROF_GCSTACK, VMPROF_OBJECTS
};

/* Bits of the header's mode byte. */
enum VmprofMode {
  VMPROF_MEMORY = 1, VMPROF_LINES = 2, VMPROF_NATIVE = 4, VMPROF_PAIRS = 8
};

/*
** Appends the five words and the header record. 'period': period of time samples in us, or 0;
** 'mode': bits of enum VmprofMode.
*/
void vmprof_start (Bytes *b, uint64_t period, int version, int mode,
                   const char *interpreter);

/* Appends a record VMPROF_TIME or VMPROF_TRAILER; 'us' is the time since the epoch in us. */
void vmprof_time (Bytes *b, int marker, uint64_t us);

/*
** Appends a meta; the value (n bytes) is converted to valid UTF-8. The caller uses each key,
** which is ASCII, only once.
*/
void vmprof_meta (Bytes *b, const char *key, const char *value, size_t n);

/* Appends a record VMPROF_NAME or VMPROF_NATIVENAME; 'name' has the form of framename.h. */
void vmprof_name (Bytes *b, int marker, uint64_t id, const char *name);

/* Appends the start of a record of words in version 7: the marker, a time, the depth. */
void vmprof_timed (Bytes *b, int marker, double seconds, uint64_t depth);
void vmprof_word (Bytes *b, uint64_t w);

/*
** Appends a record in one step, for the most frequent types. Returns the place of its 'words'
** words after the depth field (whose value is 'depth'); the caller fills them in. 'lead' is the
** word before the depth: a count of 1, or in version 7 a time. Returns NULL if there is not
** enough memory.
*/
unsigned char *vmprof_record (Bytes *b, int marker, uint64_t lead, uint64_t depth,
                              size_t words);
uint64_t vmprof_seconds (double seconds);
#define VMPROF_ONCE	1	/* 'lead' before version 7: a count */

#endif
