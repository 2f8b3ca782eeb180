/* SPDX-License-Identifier: MIT */
/*
** A source: the bytes of a file, unpacked on the way if it is gzip (told by
** content, not by name).
**
** Owns the file, a decompressor and two buffers of fixed size, so that nothing
** in a file makes it take more memory. Knows nothing of what the bytes mean.
** A source that has failed or ended delivers no more bytes.
*/
#ifndef asamp_source_h
#define asamp_source_h

#include "bounds.h"

#include <stddef.h>
#include <stdint.h>

/* The most bytes that source_take gives in one piece. */
#define SOURCE_PIECE	BOUND(1u << 20, 65536u)

typedef struct Source Source;

/*
** "-" is standard input, which may be read again from its start: what is no file
** is kept in one without a name, in $TMPDIR or /tmp. NULL when it cannot be opened
** or memory is out: errno tells.
*/
Source *source_open (const char *path);
void source_close (Source *s);

/*
** The next n <= SOURCE_PIECE bytes, which hold until the next call; NULL,
** and nothing is taken, when there are not as many.
*/
const unsigned char *source_take (Source *s, size_t n);

/*
** Copies the next n bytes to 'to' (NULL: skips them). Returns how many there
** were: less than n only at the end or after a failure.
*/
uint64_t source_read (Source *s, void *to, uint64_t n);

/* Bytes delivered so far, unpacked. */
uint64_t source_offset (const Source *s);

/* Bytes of the file that were read: of a packed one packed. */
uint64_t source_fetched (const Source *s);

/* The share of the file that was read: 0 to 1; 0 when its size is unknown. */
double source_fraction (const Source *s);

/* Is the file being written? (Somebody has locked it: place.h.) */
int source_live (const Source *s);

/* Locks the file, so that no profile is written into it: 0 when it is live. */
int source_lock (Source *s);

/*
** What the file is instead of a log, by its first bytes: "; this is a pprof profile
** (...)", or an empty text.
*/
#define SOURCE_OTHER	160
void source_other (const Source *s, char to[SOURCE_OTHER]);

/* 1 when the file is compressed. */
int source_packed (const Source *s);

/*
** Why no more bytes come: NULL at the plain end of the file, otherwise a
** phrase ("compressed data are corrupt", or the system's reason).
*/
const char *source_failure (const Source *s);

#endif
