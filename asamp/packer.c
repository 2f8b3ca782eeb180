/* SPDX-License-Identifier: MIT */
/*
** Compression by zlib or ISA-L. See packer.h.
*/
#include "packer.h"

#include <stdlib.h>
#include <string.h>

#if __has_include(<isa-l/igzip_lib.h>)
#include <isa-l/igzip_lib.h>

/* ISA-L's first level that makes Huffman codes of its own; it takes the memory. */
enum { LEVEL = 1, LEVELBYTES = ISAL_DEF_LVL1_DEFAULT };

static int openfast (Packer *p) {
  unsigned char *levelbytes = malloc(LEVELBYTES);
  p->fast = malloc(sizeof(*p->fast));
  if (p->fast == NULL || levelbytes == NULL) {
    free(levelbytes);
    free(p->fast);
    p->fast = NULL;
    return 0;
  }
  isal_deflate_init(p->fast);
  p->fast->gzip_flag = IGZIP_GZIP;
  p->fast->level = LEVEL;
  p->fast->level_buf = levelbytes;
  p->fast->level_buf_size = LEVELBYTES;
  return 1;
}

static void closefast (Packer *p) {
  free(p->fast->level_buf);
  free(p->fast);
}

/* One step of 'then'; returns the bytes in p->packed. */
static size_t stepfast (Packer *p, const unsigned char **data, size_t *n,
                        int then) {
  struct isal_zstream *z = p->fast;
  z->next_in = (unsigned char *)*data;
  z->avail_in = (uint32_t)*n;
  z->next_out = p->packed;
  z->avail_out = PACKER_PIECE;
  z->flush = then == PACKER_FLUSH ? SYNC_FLUSH : NO_FLUSH;
  z->end_of_stream = then == PACKER_END;
  isal_deflate(z);
  *data = z->next_in;
  *n = z->avail_in;
  return PACKER_PIECE - z->avail_out;
}

#else

struct isal_zstream { char none; };
#define openfast(p)	openzlib(p, 1)
#define closefast(p)	((void)0)
#define stepfast	stepzlib

#endif

/*
** zlib's search for repetitions, when it is to be fast. Stacks repeat the one
** before but for a few words, so the first match that is found is taken (FAST,
** no lazy evaluation), it may be as long as can be, and what it covers is
** indexed too. Sizes are those of zlib's default, for two thirds of its time.
*/
enum { FAST = 3, LONGEST = 258, CHAIN = 32 };

static int openzlib (Packer *p, int tuned) {
  int level = tuned ? FAST : Z_DEFAULT_COMPRESSION;
  if (deflateInit2(&p->z, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return 0;
  if (tuned)
    deflateTune(&p->z, LONGEST, LONGEST, LONGEST, CHAIN);
  return 1;
}

static size_t stepzlib (Packer *p, const unsigned char **data, size_t *n,
                        int then) {
  p->z.next_in = (unsigned char *)*data;
  p->z.avail_in = (uInt)*n;
  p->z.next_out = p->packed;
  p->z.avail_out = PACKER_PIECE;
  deflate(&p->z, then == PACKER_END ? Z_FINISH
                 : then == PACKER_FLUSH ? Z_SYNC_FLUSH : Z_NO_FLUSH);
  *data = p->z.next_in;
  *n = p->z.avail_in;
  return PACKER_PIECE - p->z.avail_out;
}

int packer_open (Packer *p, int how) {
  memset(p, 0, sizeof(*p));
  p->packed = malloc(PACKER_PIECE);
  if (p->packed == NULL)
    return 0;
  p->open = how == PACKER_FAST ? openfast(p) : openzlib(p, 0);
  return p->open;
}

void packer_put (Packer *p, const unsigned char *data, size_t n, int then,
                 PackerSink sink, void *ud) {
  do {  /* lengths have 32 bits there */
    size_t piece = n < (1u << 30) ? n : 1u << 30, left = piece, m;
    int how = piece < n ? PACKER_MORE : then;
    do {
      m = p->fast != NULL ? stepfast(p, &data, &left, how)
                          : stepzlib(p, &data, &left, how);
      if (m > 0 && !sink(ud, p->packed, m))
        return;
    } while (m == PACKER_PIECE);
    n -= piece;
  } while (n > 0);
}

void packer_close (Packer *p) {
  if (p->fast != NULL)
    closefast(p);
  else if (p->open)
    deflateEnd(&p->z);
  free(p->packed);
  memset(p, 0, sizeof(*p));
}
