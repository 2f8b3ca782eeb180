/* SPDX-License-Identifier: MIT */
/*
** A spill stores numbers and texts on disk while a profile is read. They are read back in order
** when the output is written. So memory does not grow with the number of samples.
**
** Owns an unnamed file. Invariants:
**
**   SP1  values are taken in the order in which they were put, each with its own type: numbers as
**        numbers and texts as texts;
**   SP2  after a failure ('error') nothing more is stored. Numbers that cannot be read are then 0,
**        and texts NULL.
*/
#ifndef asamp_spill_h
#define asamp_spill_h

#include <stddef.h>
#include <stdint.h>

#define SPILL_PIECE	65536	/* bytes of the buffer */

typedef struct Spill {
  int fd;               /* descriptor of the unnamed file; -1: none */
  int error;            /* errno of the first failure, or 0 */
  int reading;
  size_t at, used;      /* 'at': position of the next byte to read in 'buffer'; 'used': end of the
			   bytes in 'buffer' */
  unsigned char buffer[SPILL_PIECE];
} Spill;

/* Makes an unnamed file in 'directory'. Returns a descriptor for writing and reading, or -1 with
   errno. */
int spill_file (const char *directory);

/* Opens a spill in 'directory'. Returns 0 or an errno. */
int spill_open (Spill *s, const char *directory);
void spill_close (Spill *s);

/* Stores a number. Numbers of small magnitude take few bytes. */
void spill_put (Spill *s, int64_t n);
void spill_text (Spill *s, const char *text, size_t n);

/* Makes the next read start at the first value. After the first call, nothing may be stored. May be
   called repeatedly. */
void spill_rewind (Spill *s);
int64_t spill_take (Spill *s);
/* Returns the next n bytes of a text (n <= SPILL_PIECE), valid until the next call; NULL: there
   are fewer. */
const char *spill_taketext (Spill *s, size_t n);

#endif
