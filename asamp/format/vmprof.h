/* SPDX-License-Identifier: MIT */
/*
** Encodes the records of a VMProf log, appended to a growing buffer.
**
**   V1  every string is valid UTF-8, because a reader rejects the whole file otherwise;
**   V2  a name has the form of framename.h;
**   V3  a record of stacks or objects has at most VMPROF_MAXWORDS words.
**
** This module ensures V1 for values of meta records; the callers ensure the rest.
*/
#ifndef asamp_vmprof_h
#define asamp_vmprof_h

#include "bytes.h"

#define VMPROF_MAXWORDS		65536

/* First byte of a record. */
enum VmprofMarker {
  VMPROF_STACK = 1, VMPROF_NAME, VMPROF_TRAILER, VMPROF_INTERPRETER,
  VMPROF_HEADER, VMPROF_TIME, VMPROF_META, VMPROF_NATIVENAME,
  VMPROF_GCSTACK, VMPROF_OBJECTS
};

/* Bits of the mode byte in the header. */
enum VmprofMode {
  VMPROF_MEMORY = 1, VMPROF_LINES = 2, VMPROF_NATIVE = 4, VMPROF_PAIRS = 8
};

/* Appends the start of a log. 'period' is that of time samples in us, or 0; 'version' <= 255;
   'mode' is bits of VmprofMode; 'interpreter' has at most 255 bytes. */
void vmprof_start (Bytes *b, uint64_t period, int version, int mode,
                   const char *interpreter);

/* Appends a record with a time: 'marker' is VMPROF_TIME or VMPROF_TRAILER, 'us' is the time since
   1970. */
void vmprof_time (Bytes *b, int marker, uint64_t us);

/* Appends a meta record; invalid bytes of the value become U+FFFD. The key is ASCII, and no other
   record of the log may have it. */
void vmprof_meta (Bytes *b, const char *key, const char *value, size_t n);

/* Appends the name of a frame id, valid UTF-8 in the form of framename.h. 'marker': VMPROF_NAME or
   VMPROF_NATIVENAME. */
void vmprof_name (Bytes *b, int marker, uint64_t id, const char *name);

/* Appends the start of a stack or object record of version 7. The caller appends its 'depth'
   words. */
void vmprof_timed (Bytes *b, int marker, double seconds, uint64_t depth);
void vmprof_word (Bytes *b, uint64_t w);

/* Appends a record: 'marker', 'lead', 'depth' and space for 'words' words. Returns the space's
   address, or NULL if out of memory. 'lead' is the time from vmprof_seconds; in versions below 7
   VMPROF_ONCE. */
unsigned char *vmprof_record (Bytes *b, int marker, uint64_t lead, uint64_t depth,
                              size_t words);
/* Returns a time as a word: the bits of the double. */
uint64_t vmprof_seconds (double seconds);
/* Argument 'lead' of vmprof_record in versions of the format below 7: the record represents one
   sample. */
#define VMPROF_ONCE	1

#endif
