/* SPDX-License-Identifier: MIT */
/* Decompresses by zlib (decompressor.h). */
#include "decompressor.h"

#include <stdint.h>
#include <stdlib.h>

#include <zlib.h>

enum { HEAD = 10 };       /* smallest header of a gzip member, bytes */

struct Decompressor {
  z_stream z;
  int ended;
};

Decompressor *decompressor_new (void) {
  Decompressor *u = calloc(1, sizeof(*u));
  if (u != NULL && inflateInit2(&u->z, 15 + 16) != Z_OK) {
    free(u);
    u = NULL;
  }
  return u;
}

void decompressor_free (Decompressor *u) {
  if (u != NULL)
    inflateEnd(&u->z);
  free(u);
}

int decompressor_step (Decompressor *u, const unsigned char **in, size_t *nin,
                       unsigned char **out, size_t *nout) {
  int r;
  if (u->ended)
    inflateReset(&u->z);
  u->z.next_in = (unsigned char *)*in;
  u->z.avail_in = (uInt)*nin;
  u->z.next_out = *out;
  u->z.avail_out = (uInt)*nout;
  r = inflate(&u->z, Z_NO_FLUSH);
  *in = u->z.next_in;
  *nin = u->z.avail_in;
  *out = u->z.next_out;
  *nout = u->z.avail_out;
  u->ended = r == Z_STREAM_END;
  return u->ended ? DECOMPRESSOR_END
         : r == Z_OK || r == Z_BUF_ERROR ? DECOMPRESSOR_MORE : DECOMPRESSOR_BAD;
}

int decompressor_inmember (const Decompressor *u) {
  return u->z.total_in >= HEAD;
}
