/* SPDX-License-Identifier: MIT */
/*
** The bytes of a VMProf log: one function for each record, appending to a
** buffer that grows.
**
** Owns the layout (64-bit little-endian words). Knows no file, no thread, no clock
** and no Lua. Invariants:
**   V1  every string is valid UTF-8 (a reader rejects the whole file
**       otherwise);
**   V2  a name is one of framename.h;
**   V3  a record of words holds at most VMPROF_MAXWORDS of them.
** Upholding V3 is the caller's part, the rest is done here.
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
** The five words and the header record. 'period': of time samples, in us, or
** 0; 'mode': enum VmprofMode.
*/
void vmprof_start (Bytes *b, uint64_t period, int version, int mode,
                   const char *interpreter);

/* VMPROF_TIME or VMPROF_TRAILER at that point of the epoch, in us. */
void vmprof_time (Bytes *b, int marker, uint64_t us);

/*
** 'value' is written as valid UTF-8. The caller never repeats a key, which
** is ASCII.
*/
void vmprof_meta (Bytes *b, const char *key, const char *value, size_t n);

/* VMPROF_NAME or VMPROF_NATIVENAME; 'name' as framename.h has it. */
void vmprof_name (Bytes *b, int marker, uint64_t id, const char *name);

/*
** The start of a record of words in version 7: the marker, a time, the depth.
*/
void vmprof_timed (Bytes *b, int marker, double seconds, uint64_t depth);
void vmprof_word (Bytes *b, uint64_t w);

/*
** A whole record at once, for those of which there are most: the place of its 'words' words
** behind the depth, which counts 'depth' of them; the caller fills them in. 'lead': the word
** before the depth: a count of 1, in version 7 a time. NULL: no memory.
*/
unsigned char *vmprof_record (Bytes *b, int marker, uint64_t lead, uint64_t depth,
                              size_t words);
uint64_t vmprof_seconds (double seconds);
#define VMPROF_ONCE	1	/* 'lead' before version 7: a count */

#endif
