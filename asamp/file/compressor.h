/* SPDX-License-Identifier: MIT */
/*
** Compresses bytes to gzip. Methods: SMALL is zlib; FAST is ISA-L (a tenth of the time, a quarter
** to a half more bytes), or a tuned zlib without it; LIVE, for a profile that is read while it is
** written, is zlib at low load, else FAST.
**
**   PK1  after FLUSH, all bytes so far can be decompressed from the output;
**   PK2  SMALL and FAST produce one gzip member, because some readers read only the first. LIVE
**        starts another when it changes between zlib and FAST;
**   PK3  LIVE keeps its input until a flush. If more than COMPRESSOR_LIGHT bytes come, it changes
**        to FAST, and back after a flush with less than half of that;
**   PK4  output comes in pieces of nearly COMPRESSOR_PIECE bytes; the rest at a flush or the end.
**
** Memory is allocated at the start only: about 450 KiB, LIVE 870 KiB.
*/
#ifndef asamp_compressor_h
#define asamp_compressor_h

#include <stddef.h>
#include <zlib.h>

#define COMPRESSOR_PIECE	65536    /* largest number of bytes passed to the sink */
#ifndef COMPRESSOR_LIGHT         /* most bytes between flushes that LIVE compresses by zlib */
#define COMPRESSOR_LIGHT	(64u * 1024)
#endif
#define COMPRESSOR_TURNS	16  /* LIVE: changes between stacks and text that are recorded
                                       between flushes */

enum { COMPRESSOR_SMALL, COMPRESSOR_FAST, COMPRESSOR_LIVE };
enum { COMPRESSOR_MORE, COMPRESSOR_FLUSH, COMPRESSOR_END };

/* Takes output. Returns 0 to stop the compressor. */
typedef int (*CompressorSink) (void *ud, const unsigned char *data, size_t n);

/* A compressor. All zero: not open. */
typedef struct Compressor {
  int how;
  int isfast;                 /* 1: the member is compressed by 'fast', 0: by 'z' */
  struct isal_zstream *fast;
  int hasz;                   /* 1: 'z' was initialized */
  z_stream z;
  unsigned char *packed;      /* output, COMPRESSOR_PIECE bytes */
  size_t npacked;             /* bytes not yet passed on */
  /* the rest is for LIVE */
  size_t load;                /* bytes since the last flush */
  unsigned char *kept;        /* these bytes, if zlib compresses the member */
  int text;                   /* 1: the input is text (compressor_text) */
  int packedtext;             /* 1: the bytes compressed last are text */
  size_t turns[COMPRESSOR_TURNS]; /* positions in 'kept' of changes between stacks and text */
  size_t nturns;
} Compressor;

/* Opens a compressor. Returns 0 if there is not enough memory; call compressor_close in either
   case. */
int compressor_open (Compressor *p, int how);

/* Compresses n bytes. 'then': MORE input follows; FLUSH (PK1); END, after which only
   compressor_close may be called. */
void compressor_put (Compressor *p, const unsigned char *data, size_t n, int then,
                     CompressorSink sink, void *ud);

/* Declares the following input as text (1) or stack records (0, the default). LIVE uses other
   Huffman codes and parameters for each; the other methods ignore it. */
void compressor_text (Compressor *p, int text, CompressorSink sink, void *ud);

/* Stores the bytes that would end the gzip member here, directly after a FLUSH. Returns their
   number; 0: no member is open. */
#define COMPRESSOR_ENDING	16
size_t compressor_ending (const Compressor *p, unsigned char ending[COMPRESSOR_ENDING]);

/* Drops pending input and output of a LIVE compressor, and starts another member with zlib. */
void compressor_restart (Compressor *p);

void compressor_close (Compressor *p);

#endif
