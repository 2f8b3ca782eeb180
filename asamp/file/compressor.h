/* SPDX-License-Identifier: MIT */
/*
** Compresses bytes to gzip. The method SMALL uses zlib. The method FAST uses the library ISA-L: it
** needs a tenth of the time of SMALL, but its output is larger by a quarter to a half. Builds
** without ISA-L use zlib with faster parameters for FAST.
**
**   PK1  after FLUSH, all bytes so far can be decompressed from the output;
**   PK2  the output is one gzip member, because some programs read only the first member of a file.
**        Only compressor_restart starts another member;
**   PK3  the sink receives pieces of nearly COMPRESSOR_PIECE bytes. At a flush or the end, it
**        receives the output that is left, up to COMPRESSOR_PIECE bytes.
**
** Only compressor_open allocates memory, about 450 KiB.
*/
#ifndef asamp_compressor_h
#define asamp_compressor_h

#include <stddef.h>
#include <zlib.h>

#define COMPRESSOR_PIECE	65536    /* largest number of bytes passed to the sink */

enum { COMPRESSOR_SMALL, COMPRESSOR_FAST };
enum { COMPRESSOR_MORE, COMPRESSOR_FLUSH, COMPRESSOR_END };

/* Takes n bytes of compressed output. Returns 0 to stop the compressor. */
typedef int (*CompressorSink) (void *ud, const unsigned char *data, size_t n);

/* A compressor. All zero: not open. */
typedef struct Compressor {
  struct isal_zstream *fast;  /* stream of the method FAST; NULL: the method is SMALL */
  int hasz;                   /* 1: 'z' was initialized (method SMALL) */
  z_stream z;
  unsigned char *packed;      /* output, COMPRESSOR_PIECE bytes */
  size_t npacked;             /* bytes in 'packed' not passed to the sink yet */
  int isnew;                  /* 1: a flush has something to write: the gzip member is new, or input
                                 came after the last flush */
} Compressor;

/* Opens a compressor. 'how': COMPRESSOR_SMALL or COMPRESSOR_FAST. Returns 0 if out of memory; call
   compressor_close in either case. */
int compressor_open (Compressor *p, int how);

/* Compresses n bytes. 'then' has three values.
   MORE   more input follows
   FLUSH  writes the output so that all bytes so far can be decompressed
   END    completes the gzip member; only compressor_close may be called later */
void compressor_put (Compressor *p, const unsigned char *data, size_t n, int then,
                     CompressorSink sink, void *ud);

/* Stores the bytes that would complete the gzip member if it ended now. Call it directly after a
   flush, and only for a Compressor with the method FAST. */
#define COMPRESSOR_ENDING	10
void compressor_ending (const Compressor *p, unsigned char ending[COMPRESSOR_ENDING]);

/* Drops pending input and output, and starts another gzip member. Only for the method FAST. */
void compressor_restart (Compressor *p);

void compressor_close (Compressor *p);

#endif
