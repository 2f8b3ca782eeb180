/* SPDX-License-Identifier: MIT */
/*
** The output file of a converter: text and numbers, with or without gzip. Until it is complete, it
** has a temporary name.
**
** Owns the file and a buffer. Independent of profiles. Rules:
**
**   OU1  a file that appears under the requested name is complete, because it is written under
**        another name in the same folder, and output_close renames it. Exceptions are written
**        directly: standard output ("-"), files that are not regular, such as a pipe, and names in
**        /proc and in /dev (except /dev/shm);
**   OU2  after the first failure ('error') nothing more is written.
*/
#ifndef asamp_output_h
#define asamp_output_h

#include "compressor.h"
#include "temporary.h"

#include <stddef.h>
#include <stdint.h>

#define OUTPUT_PIECE	65536	/* bytes of the buffer */

enum { OUTPUT_PLAIN, OUTPUT_SMALL, OUTPUT_FAST };

typedef struct Output {
  Temporary temporary;  /* the temporary file; its name is NULL if the output is written
			   directly */
  int fd;
  int packed;
  Compressor compressor;
  int error;            /* errno of the first failure, or 0 */
  uint64_t written;     /* number of bytes put so far, before compression */
  size_t n;             /* bytes in 'buffer' */
  unsigned char buffer[OUTPUT_PIECE];
} Output;

/* Returns 1 if the name is in /dev or /proc and is therefore written directly (OU1). */
int output_isdevice (const char *path);
/*
** Opens the file; 'how' is OUTPUT_PLAIN, OUTPUT_SMALL or OUTPUT_FAST (compressor.h). Returns 0
** or an errno.
*/
int output_open (Output *o, const char *path, int how);
/* Completes the file and gives it its final name. If 'keep' is 0, or after a failure, removes it
   instead. (A file that is written directly is neither renamed nor removed.) Returns 0 or the errno
   of the first failure. */
int output_close (Output *o, int keep);

void output_bytes (Output *o, const void *data, size_t n);
void output_text (Output *o, const char *text);
void output_char (Output *o, char c);
void output_uint (Output *o, uint64_t n);
void output_int (Output *o, int64_t n);
/* Writes a number of microseconds in milliseconds, without trailing zeros: "12.345", "12.5",
   "12". */
void output_ms (Output *o, int64_t us);
/* Writes n bytes as a quoted JSON string; invalid UTF-8 becomes U+FFFD. */
void output_string (Output *o, const char *text, size_t n);
/*
** Writes n bytes of text. Invalid UTF-8 becomes U+FFFD. ';' and the characters of
** printable_isobeyed become ','.
*/
void output_clean (Output *o, const char *text, size_t n);

#endif
