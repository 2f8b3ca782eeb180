/* SPDX-License-Identifier: MIT */
/*
** A file that a converter writes: text and numbers in, gzip or plain bytes
** out, under another name until all of it is there.
**
** Owns the file and a buffer. Knows nothing of profiles.
** Rules:
**   OU1  what has the name asked for is complete: the file is written beside it
**        and renamed by output_close (standard output, "-", and what is no
**        regular file, such as a pipe, are written directly, and so is what is
**        named by /dev, but for /dev/shm, and by /proc);
**   OU2  after the first failure nothing is written any more; 'error' tells.
*/
#ifndef asamp_output_h
#define asamp_output_h

#include "compressor.h"
#include "temporary.h"

#include <stddef.h>
#include <stdint.h>

#define OUTPUT_PIECE	65536

enum { OUTPUT_PLAIN, OUTPUT_SMALL, OUTPUT_FAST };

typedef struct Output {
  Temporary temporary;  /* without a name: written directly */
  int fd;
  int packed;
  Compressor compressor;
  int error;            /* errno of the first failure, or 0 */
  uint64_t written;     /* bytes, before they are packed */
  size_t n;             /* bytes in 'buffer' */
  unsigned char buffer[OUTPUT_PIECE];
} Output;

/* Is that a name of the system's, written directly (OU1)? */
int output_isdevice (const char *path);
/* 'how': as compressor.h. Returns 0 or an errno. */
int output_open (Output *o, const char *path, int how);
/*
** Ends and renames the file; with keep 0, or after a failure, removes it.
** Returns 0 or the errno of the first failure.
*/
int output_close (Output *o, int keep);

void output_bytes (Output *o, const void *data, size_t n);
void output_text (Output *o, const char *text);
void output_char (Output *o, char c);
void output_uint (Output *o, uint64_t n);
void output_int (Output *o, int64_t n);
/* Microseconds as milliseconds: "12.345". */
void output_ms (Output *o, int64_t us);
/* n bytes as a JSON string, quoted; what is no UTF-8 becomes U+FFFD. */
void output_string (Output *o, const char *text, size_t n);
/* n bytes as UTF-8; control characters and ';' become ','. */
void output_clean (Output *o, const char *text, size_t n);

#endif
