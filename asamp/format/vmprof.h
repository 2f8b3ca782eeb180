/* SPDX-License-Identifier: MIT */
/*
** Encodes the records of a VMProf log, appended to a growing buffer.
**
**   V1  every string is valid UTF-8, because readers reject a file with an invalid string;
**   V2  the name of a frame has the form of framename.h;
**   V3  a record of stacks or objects has at most VMPROF_MAXWORDS words.
**
** This module ensures V1 for values of meta records. The callers ensure V1 for all other strings,
** and V2 and V3.
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

/* Appends the start of a log. 'period': period of time samples in us; 0: no time samples.
   'version' <= 255. 'mode': bits of VmprofMode. 'interpreter' has at most 255 bytes. */
void vmprof_start (Bytes *b, uint64_t period, int version, int mode, const char *interpreter);

/* Appends a record with the time 'us', in us since 1970. 'marker': VMPROF_TIME or
   VMPROF_TRAILER. */
void vmprof_time (Bytes *b, int marker, uint64_t us);

/* Appends a meta record, a key and a value of n bytes. Invalid bytes of the value become U+FFFD.
   The key is ASCII, and no other record of the log may have the same key. */
void vmprof_meta (Bytes *b, const char *key, const char *value, size_t n);

/* Appends the name of the frame 'id'. The name is valid UTF-8 in the form of framename.h. 'marker':
   VMPROF_NAME or VMPROF_NATIVENAME. */
void vmprof_name (Bytes *b, int marker, uint64_t id, const char *name);

/* Appends the start of an object record (version 7): the marker, the time and 'depth'. The caller
   appends the 'depth' words of the record. */
void vmprof_timed (Bytes *b, int marker, double seconds, uint64_t depth);
void vmprof_word (Bytes *b, uint64_t w);

/* Appends a record: 'marker', 'lead', 'depth' and space for 'words' words. Returns the address of
   the space, or NULL if out of memory. 'lead' is the time (vmprof_seconds) in version 7, and
   VMPROF_ONCE in earlier versions. 'depth' is the number of words of the stack or, in an object
   record, of objects and statistics. */
unsigned char *vmprof_record (Bytes *b, int marker, uint64_t lead, uint64_t depth, size_t words);
/* Returns a time in seconds as a word of a record: the bits of the double. */
uint64_t vmprof_seconds (double seconds);
/* Argument 'lead' of vmprof_record in versions of the format below 7: the record counts as one
   sample. */
#define VMPROF_ONCE	1

#endif
