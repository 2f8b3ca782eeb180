/* SPDX-License-Identifier: MIT */
/*
** A source reads the bytes of a file and decompresses gzip, which it recognizes by content, not by
** name.
**
** Owns the file, a decompressor and two buffers of fixed size, so that no content of a file can
** increase its memory. Independent of the meaning of the bytes. After a failure it still delivers
** the bytes that it read before. A regular file that grows is read only to the size that it had
** when it was opened or locked, because a process may write faster than a reader reads.
*/
#ifndef asamp_source_h
#define asamp_source_h

#include "bounds.h"

#include <stddef.h>
#include <stdint.h>

/* Largest piece that source_take returns. */
#define SOURCE_PIECE	BOUND(1u << 20, 65536u)

typedef struct Source Source;

/*
** Opens a file; "-" is standard input. Returns NULL with errno on failure. source_failure reports
** errors of later reads.
**
** Standard input can be opened repeatedly, each time from its start. If it cannot seek, the first
** call copies all of it to an unnamed file in $TMPDIR or /tmp.
*/
Source *source_open (const char *path);
void source_close (Source *s);

/*
** Returns the next n bytes (n <= SOURCE_PIECE), valid until the next call. If there are fewer,
** returns NULL and consumes nothing.
*/
const unsigned char *source_take (Source *s, size_t n);

/*
** Copies the next n bytes to 'to', or skips them if 'to' is NULL. Returns the number of bytes,
** which is less than n only at the end or after a failure.
*/
uint64_t source_read (Source *s, void *to, uint64_t n);

/* Returns the number of decompressed bytes delivered so far. */
uint64_t source_offset (const Source *s);

/* Returns the number of bytes read from the file. If the file is compressed, these are compressed
   bytes. */
uint64_t source_fetched (const Source *s);

/* Returns the share of the file that was read so far, 0 to 1. Returns 0 if its size is unknown. */
double source_fraction (const Source *s);

/*
** Returns 1 if the file is being written (a writer has it locked, place.h) or has grown since it
** was opened or locked.
*/
int source_live (const Source *s);

/* Returns 1 if 'path', with which the source was opened, is the name of another file now. */
int source_replaced (const Source *s, const char *path);

/* Locks the file, so that no profile is written into it, and reads its size again. Returns 0 if a
   process is writing it already. On a file system without locks, only reads the size. */
int source_lock (Source *s);

/*
** Writes a description of a file that is not a log, from its first bytes: "; this is a pprof
** profile (...)", or an empty string if the kind is unknown.
*/
#define SOURCE_OTHER	160
void source_other (const Source *s, char to[SOURCE_OTHER]);

/* Returns 1 if the file is compressed. */
int source_packed (const Source *s);

/*
** Returns the reason of a failure as a phrase ("compressed data are corrupt", or the system's
** message). NULL: there was no failure so far; the file may have ended regularly.
*/
const char *source_failure (const Source *s);

#endif
