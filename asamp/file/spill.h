/* SPDX-License-Identifier: MIT */
/*
** A spill: numbers and texts that are written while a profile is read, and
** read again, in order, when its file is written; on disk, so that memory does
** not grow with the samples.
**
** Owns a file without a name. Invariants:
**   SP1  what is taken was put, in the same order: text where text was put;
**   SP2  after a failure ('error') nothing more is kept, and zeros come out.
*/
#ifndef asamp_spill_h
#define asamp_spill_h

#include <stddef.h>
#include <stdint.h>

#define SPILL_PIECE	65536

typedef struct Spill {
  int fd;               /* -1: none */
  int error;            /* errno of the first failure, or 0 */
  int reading;
  size_t at, used;      /* of 'buffer' */
  unsigned char buffer[SPILL_PIECE];
} Spill;

/* A new file without a name, to write and read; -1: errno tells. */
int spill_file (const char *directory);

/* 'directory': where the file goes. Returns 0 or an errno. */
int spill_open (Spill *s, const char *directory);
void spill_close (Spill *s);

/* Small numbers take little room, whatever their sign. */
void spill_put (Spill *s, int64_t n);
void spill_text (Spill *s, const char *text, size_t n);

/* From here on the spill is read, from its start. May be called again. */
void spill_rewind (Spill *s);
int64_t spill_take (Spill *s);
/* The next n bytes of a text, n <= SPILL_PIECE; hold until the next call. */
const char *spill_taketext (Spill *s, size_t n);

#endif
