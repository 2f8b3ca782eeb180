/* SPDX-License-Identifier: MIT */
/* Reads the bytes of a file. Decompresses a gzip file, which is recognized by its first bytes.
   Buffers have a fixed size. After a failure, the bytes read before the failure are still
   delivered. A growing file is read only up to the size that it had when it was opened. */
#ifndef asamp_source_h
#define asamp_source_h

#include "bounds.h"

#include <stddef.h>
#include <stdint.h>

/* Largest number of bytes that one call of source_take can return. */
#define SOURCE_PIECE	BOUND(1u << 20, 65536u)

typedef struct Source Source;

/* Opens a file; "-" is standard input. Standard input that cannot seek is first copied to an
   unnamed file, so that each call can read it from its start. Returns NULL with errno on
   failure. */
Source *source_open (const char *path);
void source_close (Source *s);

/* Returns the next n bytes (n <= SOURCE_PIECE), valid until the next source_take or source_read. If
   fewer bytes are left, returns NULL and consumes nothing. */
const unsigned char *source_take (Source *s, size_t n);

/* Copies the next n bytes to 'to', or skips them if 'to' is NULL. Returns the number of bytes
   copied or skipped: less than n only at the end of the file or after a failure. */
uint64_t source_read (Source *s, void *to, uint64_t n);

/* Returns the number of bytes delivered so far, after decompression. */
uint64_t source_offset (const Source *s);

/* Returns the number of bytes read from the file, before decompression. */
uint64_t source_fetched (const Source *s);

/* Returns the share of the file that was read, 0 to 1; 0 if the file's size is unknown. */
double source_fraction (const Source *s);

/* Returns 1 if the file is being written (locked, place.h), or has grown since it was opened. */
int source_live (const Source *s);

/* Returns 1 if 'path' names another file now than when 's' was opened. */
int source_replaced (const Source *s, const char *path);

/* Writes the type of a file that is not a profile, as "; this is a pprof profile (...)". Writes ""
   for a VMProf log, an empty file, and a file of unknown type. */
#define SOURCE_OTHER	160
void source_other (const Source *s, char to[SOURCE_OTHER]);

/* Returns 1 if the file is compressed (gzip). */
int source_packed (const Source *s);

/* Returns the reason of a failure as a phrase; NULL: none so far. */
const char *source_failure (const Source *s);

#endif
