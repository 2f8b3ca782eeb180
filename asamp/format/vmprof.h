/* SPDX-License-Identifier: MIT */
/*
** Encodes the records of a VMProf log (64-bit little-endian words). The functions append to a
** growing buffer, and set its field 'failed' if there is not enough memory. Invariants:
**   V1  every string is valid UTF-8, because a reader rejects the whole file otherwise;
**   V2  a name has the form of framename.h;
**   V3  a record of words has at most VMPROF_MAXWORDS of them.
** This module ensures V1 for the values of meta records (pairs of key and value); the callers
** ensure the rest.
*/
#ifndef asamp_vmprof_h
#define asamp_vmprof_h

#include "bytes.h"

#define VMPROF_MAXWORDS		65536

/* Markers: the first byte of a record. STACK, GCSTACK and OBJECTS mark the records of words. */
enum VmprofMarker {
  VMPROF_STACK = 1, VMPROF_NAME, VMPROF_TRAILER, VMPROF_INTERPRETER,
  VMPROF_HEADER, VMPROF_TIME, VMPROF_META, VMPROF_NATIVENAME,
  VMPROF_GCSTACK, VMPROF_OBJECTS
};

/* Bits of the mode byte in the record VMPROF_HEADER. */
enum VmprofMode {
  VMPROF_MEMORY = 1, VMPROF_LINES = 2, VMPROF_NATIVE = 4, VMPROF_PAIRS = 8
};

/*
** Appends the start of a log: five words and the header record. 'period': period of time samples
** in us, or 0; 'version': at most 255; 'mode': bits of enum VmprofMode; 'interpreter': at most 255
** bytes of UTF-8.
*/
void vmprof_start (Bytes *b, uint64_t period, int version, int mode,
                   const char *interpreter);

/* Appends a record VMPROF_TIME or VMPROF_TRAILER; 'us' is the time since the epoch in us. */
void vmprof_time (Bytes *b, int marker, uint64_t us);

/*
** Appends a meta record: a key and a value. 'value' has n bytes, of which invalid ones are replaced
** by U+FFFD. The key is ASCII, and the caller uses it only once in a log.
*/
void vmprof_meta (Bytes *b, const char *key, const char *value, size_t n);

/* Appends a record VMPROF_NAME or VMPROF_NATIVENAME. The name must be valid UTF-8 (V1) and have the
   form of framename.h (V2). */
void vmprof_name (Bytes *b, int marker, uint64_t id, const char *name);

/*
** Appends the start of a record of words in version 7 of the format: the marker, a time, the depth.
** The caller appends the words, with vmprof_word for instance.
*/
void vmprof_timed (Bytes *b, int marker, double seconds, uint64_t depth);
void vmprof_word (Bytes *b, uint64_t w);

/*
** Appends a record of words: the marker, the words 'lead' and 'depth', and then 'words' words that
** the caller must fill in. Returns the address of these words, or NULL if there is not enough
** memory. 'lead' is VMPROF_ONCE, or in version 7 the time as a word of vmprof_seconds.
*/
unsigned char *vmprof_record (Bytes *b, int marker, uint64_t lead, uint64_t depth,
                              size_t words);
/* Returns the word that encodes a time: the bits of the double. */
uint64_t vmprof_seconds (double seconds);
/* 'lead' of a stack in versions below 7: the number of samples that the stack represents */
#define VMPROF_ONCE	1

#endif
