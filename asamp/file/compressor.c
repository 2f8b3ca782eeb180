/* SPDX-License-Identifier: MIT */
/* Compresses bytes by zlib or ISA-L (compressor.h). */
#include "compressor.h"
#include "zmemory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- zlib -- */

static int openzlib (z_stream *z, int level) {
  zmemory(z);
  return deflateInit2(z, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) ==
         Z_OK;
}

/* Compresses bytes from *data (*n bytes) with zlib, and advances *data and *n. 'then': MORE, FLUSH
   or END. Returns the number of bytes written to 'packed', which has space for 'room' bytes. */
static size_t stepzlib (z_stream *z, unsigned char *packed, size_t room,
                        const unsigned char **data, size_t *n, int then) {
  static const int how[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
  z->next_in = (unsigned char *)*data;
  z->avail_in = (uInt)*n;
  z->next_out = packed;
  z->avail_out = (uInt)room;
  deflate(z, how[then]);
  *data = z->next_in;
  *n = z->avail_in;
  return room - z->avail_out;
}

/* ---------------------------------------------------------------- fast -- */

#if __has_include(<isa-l/igzip_lib.h>) && !defined(ASAMP_ZLIB)
#include <isa-l/igzip_lib.h>

/* The lowest level of ISA-L that computes Huffman codes from the data, and the bytes of memory that
   this level needs. */
enum { FASTLEVEL = 1, LEVELBYTES = ISAL_DEF_LVL1_DEFAULT };

static void beginfast (struct isal_zstream *z) {
  unsigned char *levelbytes = z->level_buf;
  isal_deflate_init(z);
  z->gzip_flag = IGZIP_GZIP;
  z->level = FASTLEVEL;
  z->level_buf = levelbytes;
  z->level_buf_size = LEVELBYTES;
}

static struct isal_zstream *newfast (void) {
  struct isal_zstream *z = malloc(sizeof(*z));
  if (z != NULL && (z->level_buf = malloc(LEVELBYTES)) == NULL) {
    free(z);
    z = NULL;
  }
  if (z != NULL)
    beginfast(z);
  return z;
}

static void freefast (struct isal_zstream *z) {
  free(z->level_buf);
  free(z);
}

/* Compresses with ISA-L; parameters and result are those of stepzlib. */
static size_t stepfast (struct isal_zstream *z, unsigned char *packed, size_t room,
                        const unsigned char **data, size_t *n, int then) {
  z->next_in = (unsigned char *)*data;
  z->avail_in = (uint32_t)*n;
  z->next_out = packed;
  z->avail_out = (uint32_t)room;
  z->flush = then == COMPRESSOR_FLUSH ? SYNC_FLUSH : NO_FLUSH;
  z->end_of_stream = then == COMPRESSOR_END;
  isal_deflate(z);
  *data = z->next_in;
  *n = z->avail_in;
  return room - z->avail_out;
}

static uint32_t fastchecksum (const struct isal_zstream *z) {
  return z->internal_state.crc;
}

static uint32_t fastlength (const struct isal_zstream *z) {
  return z->total_in;
}

#else

struct isal_zstream { z_stream z; };

static uint32_t fastchecksum (const struct isal_zstream *fast) {
  return (uint32_t)fast->z.adler;
}

static uint32_t fastlength (const struct isal_zstream *fast) {
  return (uint32_t)fast->z.total_in;
}

/* Parameters of zlib for the method FAST in builds without ISA-L. At each position, zlib then takes
   the longest of up to FASTCHAIN matches, and does not search for a longer one at the next
   position. It needs two thirds of the time of zlib's default level, and its output is as small as
   with that level. */
enum { FASTLEVEL = 3, LONGEST = 258, FASTCHAIN = 32 };

static void beginfast (struct isal_zstream *fast) {
  deflateReset(&fast->z);
  deflateTune(&fast->z, LONGEST, LONGEST, LONGEST, FASTCHAIN);
}

static struct isal_zstream *newfast (void) {
  struct isal_zstream *fast = calloc(1, sizeof(*fast));
  if (fast != NULL && !openzlib(&fast->z, FASTLEVEL)) {
    free(fast);
    fast = NULL;
  }
  if (fast != NULL)
    beginfast(fast);
  return fast;
}

static void freefast (struct isal_zstream *fast) {
  deflateEnd(&fast->z);
  free(fast);
}

#define stepfast(f,packed,room,data,n,then) \
  stepzlib(&(f)->z, packed, room, data, n, then)

#endif

/* ---------------------------------------------------------- compressor -- */

int compressor_open (Compressor *p, int how) {
  memset(p, 0, sizeof(*p));
  p->isnew = 1;
  p->packed = malloc(COMPRESSOR_PIECE);
  if (p->packed == NULL)
    return 0;
  if (how == COMPRESSOR_FAST)
    p->fast = newfast();
  else
    p->hasz = openzlib(&p->z, Z_DEFAULT_COMPRESSION);
  return p->fast != NULL || p->hasz;
}

/* Passes the output in p->packed to the sink. Returns 0 if the sink returned 0, to stop. */
static int hand (Compressor *p, CompressorSink sink, void *ud) {
  size_t n = p->npacked;
  p->npacked = 0;
  return n == 0 || sink(ud, p->packed, n);
}

/* Smallest number of free output bytes with which a step of zlib or ISA-L is run. */
enum { ROOM = 64 };

void compressor_put (Compressor *p, const unsigned char *data, size_t n, int then,
                     CompressorSink sink, void *ud) {
  if (then == COMPRESSOR_FLUSH && n == 0 && !p->isnew)
    return;  /* nothing to flush: ISA-L would add an empty block */
  p->isnew = then != COMPRESSOR_FLUSH;
  do {  /* in steps, because the compression libraries have lengths of 32 bits */
    size_t piece = n < (1u << 30) ? n : 1u << 30, left = piece, room, m;
    int how = piece < n ? COMPRESSOR_MORE : then;
    do {
      if (COMPRESSOR_PIECE - p->npacked < ROOM && !hand(p, sink, ud))
        return;
      room = COMPRESSOR_PIECE - p->npacked;
      m = p->fast != NULL ? stepfast(p->fast, p->packed + p->npacked, room, &data, &left, how)
                          : stepzlib(&p->z, p->packed + p->npacked, room, &data, &left, how);
      p->npacked += m;
    } while (m == room);
    n -= piece;
  } while (n > 0);
  if (then != COMPRESSOR_MORE)
    hand(p, sink, ud);
}

/* Stores the bytes that complete the gzip member after a flush (compressor.h): an empty last block,
   the checksum and the length. */
void compressor_ending (const Compressor *p, unsigned char ending[COMPRESSOR_ENDING]) {
  const uint32_t numbers[] = {fastchecksum(p->fast), fastlength(p->fast)};
  size_t n = 0;
  int i, k;
  ending[n++] = 0x03;
  ending[n++] = 0x00;
  for (i = 0; i < 2; i++)
    for (k = 0; k < 32; k += 8)
      ending[n++] = (unsigned char)(numbers[i] >> k);
}

void compressor_restart (Compressor *p) {
  p->npacked = 0;
  p->isnew = 1;
  beginfast(p->fast);
}

void compressor_close (Compressor *p) {
  if (p->fast != NULL)
    freefast(p->fast);
  if (p->hasz)
    deflateEnd(&p->z);
  free(p->packed);
  memset(p, 0, sizeof(*p));
}
