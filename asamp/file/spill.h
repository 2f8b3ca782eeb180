/* SPDX-License-Identifier: MIT */
/*
** Stores numbers and texts in an unnamed file, and reads them back in order, so that memory does
** not grow with the number of samples.
**
**   SP1  values are taken in the order and with the types in which they were put;
**   SP2  after a failure nothing more is stored; numbers are read as 0, texts as NULL.
*/
#ifndef asamp_spill_h
#define asamp_spill_h

#include <stddef.h>
#include <stdint.h>

#define SPILL_PIECE	65536	/* bytes of the buffer */

typedef struct Spill {
  int fd;               /* -1: none */
  int error;            /* errno of the first failure, or 0 */
  int reading;          /* 1: spill_rewind was called */
  size_t at, used;      /* 'at': index in 'buffer' of the next byte to read; 'used': number
                           of bytes in 'buffer' */
  unsigned char buffer[SPILL_PIECE];
} Spill;

/* Makes an unnamed file in 'directory'. Returns a descriptor, or -1 with errno. */
int spill_file (const char *directory);

/* Opens a spill in 'directory'. Returns 0 or an errno. */
int spill_open (Spill *s, const char *directory);
void spill_close (Spill *s);

/* Stores a number. A number near 0 takes fewer bytes than others. */
void spill_put (Spill *s, int64_t n);
void spill_text (Spill *s, const char *text, size_t n);

/* Makes the next read start at the first value. No values may be stored after this call. */
void spill_rewind (Spill *s);
int64_t spill_take (Spill *s);
/* Returns the next n bytes of a text (n <= SPILL_PIECE), valid until the next spill_take or
   spill_taketext. Returns NULL if the file has fewer bytes left. */
const char *spill_taketext (Spill *s, size_t n);

#endif
