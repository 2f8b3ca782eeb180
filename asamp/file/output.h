/* SPDX-License-Identifier: MIT */
/*
** The output file of a converter: text and numbers, with or without gzip.
**
**   OU1  a file under the requested name is complete: it is written under another name and renamed
**        by output_close. Standard output ("-"), files that are not regular, such as pipes, and
**        names in /proc and /dev (except /dev/shm) are written directly;
**   OU2  after the first failure nothing more is written.
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
  Temporary temporary;  /* file with a temporary name; temporary.name NULL: the output is written
                           directly */
  int fd;
  int packed;           /* 1: the file is compressed with gzip */
  Compressor compressor;
  int error;            /* errno of the first failure, or 0 */
  uint64_t written;     /* number of bytes written so far, before compression */
  size_t n;             /* number of bytes in 'buffer', which are not written yet */
  unsigned char buffer[OUTPUT_PIECE];
} Output;

/* Returns 1 for a name in /proc or in /dev (except /dev/shm): such a file is written directly. */
int output_isdevice (const char *path);
/* Opens the file. 'how' is OUTPUT_PLAIN (not compressed), or OUTPUT_SMALL or OUTPUT_FAST (gzip,
   compressor.h). Returns 0 or an errno. */
int output_open (Output *o, const char *path, int how);
/* Closes the file. If 'keep' is not 0 and nothing has failed, gives the file its requested name;
   otherwise removes it. Returns 0 or the errno of the first failure. */
int output_close (Output *o, int keep);

void output_bytes (Output *o, const void *data, size_t n);
void output_text (Output *o, const char *text);
void output_char (Output *o, char c);
void output_uint (Output *o, uint64_t n);
void output_int (Output *o, int64_t n);
/* Writes us as ms without trailing zeros: "12.345", "12.5", "12". */
void output_ms (Output *o, int64_t us);
/* Writes n bytes as a JSON string; invalid UTF-8 becomes U+FFFD. */
void output_string (Output *o, const char *text, size_t n);
/* Writes n bytes of text; invalid UTF-8 becomes U+FFFD, ';' and characters of printable.h
   become ','. */
void output_clean (Output *o, const char *text, size_t n);

#endif
