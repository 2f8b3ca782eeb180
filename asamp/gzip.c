/* SPDX-License-Identifier: MIT */
/*
** Packing with ISA-L. See gzip.h.
*/
#include "gzip.h"

#include <stdlib.h>

#include <isa-l/igzip_lib.h>

#define PIECE	65536

struct Gzip {
  struct isal_zstream z;
  GzipSink sink;
  void *ud;
  unsigned char level[ISAL_DEF_LVL1_DEFAULT], packed[PIECE];
};

Gzip *gzip_new (GzipSink sink, void *ud) {
  Gzip *g = calloc(1, sizeof(*g));
  if (g == NULL)
    return NULL;
  isal_deflate_init(&g->z);
  g->z.gzip_flag = IGZIP_GZIP;
  g->z.level = 1;
  g->z.level_buf = g->level;
  g->z.level_buf_size = sizeof(g->level);
  g->sink = sink;
  g->ud = ud;
  return g;
}

void gzip_free (Gzip *g) {
  free(g);
}

/* Packs what is to be put, until a piece is no longer filled. */
static void squeeze (Gzip *g) {
  do {
    g->z.next_out = g->packed;
    g->z.avail_out = PIECE;
    isal_deflate(&g->z);
    if (g->z.avail_out < PIECE)
      g->sink(g->ud, g->packed, PIECE - g->z.avail_out);
  } while (g->z.avail_out == 0);
}

void gzip_put (Gzip *g, const unsigned char *data, size_t n) {
  while (n > 0) {  /* its lengths have 32 bits */
    size_t step = n < (1u << 30) ? n : (1u << 30);
    g->z.next_in = (unsigned char *)data;
    g->z.avail_in = (uint32_t)step;
    g->z.flush = NO_FLUSH;
    squeeze(g);
    data += step;
    n -= step;
  }
}

void gzip_flush (Gzip *g, int last) {
  g->z.avail_in = 0;
  g->z.flush = last ? NO_FLUSH : SYNC_FLUSH;
  g->z.end_of_stream = (uint16_t)last;
  squeeze(g);
}
