/* SPDX-License-Identifier: MIT */
/*
** Compression to the gzip format.
**
** SMALL is zlib. FAST is ISA-L's deflate, which takes a tenth of zlib's time for an output larger
** by a quarter to a half; if built without ISA-L, FAST is zlib tuned for stacks. LIVE is for a
** profile while its program runs: zlib if there are few bytes between two flushes, else FAST.
** Independent of files. Rules:
**
**   PK1  after FLUSH, all bytes put so far can be decompressed from the output;
**   PK2  SMALL and FAST produce one member of the gzip file (some readers, browsers among them,
**        read only the first); LIVE starts another member whenever it switches between zlib and
**        FAST;
**   PK3  LIVE keeps its input until the flush and compresses it by zlib. If more than
**        COMPRESSOR_LIGHT bytes come between two flushes, it uses FAST, until less than half of
**        COMPRESSOR_LIGHT come. So zlib's time between two flushes is bounded, and a heavy load
**        does not use zlib;
**   PK4  output comes in pieces of nearly COMPRESSOR_PIECE bytes, the rest at a flush and at
**        the end: a flush of few bytes is one write.
**
** Memory: 64 KiB; plus zlib 384 KiB or ISA-L 356 KiB; LIVE both, plus COMPRESSOR_LIGHT. All of
** it is allocated at the start: nothing fails later.
*/
#ifndef asamp_compressor_h
#define asamp_compressor_h

#include <stddef.h>
#include <zlib.h>

#define COMPRESSOR_PIECE	65536    /* largest piece of output in bytes */
#ifndef COMPRESSOR_LIGHT         /* bytes per flush that zlib compresses; less where time is
				    slow, as under callgrind */
#define COMPRESSOR_LIGHT	(64u * 1024)
#endif
#define COMPRESSOR_TURNS	16  /* most changes between stacks and text per flush (LIVE) */

enum { COMPRESSOR_SMALL, COMPRESSOR_FAST, COMPRESSOR_LIVE };
enum { COMPRESSOR_MORE, COMPRESSOR_FLUSH, COMPRESSOR_END };

/* Callback that takes output. Returns 0 to stop. */
typedef int (*CompressorSink) (void *ud, const unsigned char *data, size_t n);

/* A compressor. All zero: not open. */
typedef struct Compressor {
  int how;
  int isfast;                 /* 1: FAST is in use */
  struct isal_zstream *fast;
  int hasz;                   /* 1: 'z' is open */
  z_stream z;
  unsigned char *packed;      /* COMPRESSOR_PIECE bytes */
  size_t npacked;             /* bytes of 'packed' not yet passed on */
  /* for LIVE */
  size_t load;                /* bytes put since the last flush */
  unsigned char *kept;        /* the 'load' bytes, while zlib is in use */
  int text;                   /* 1: the input is text */
  int packedtext;             /* 1: the bytes compressed last are text */
  size_t turns[COMPRESSOR_TURNS]; /* positions in 'kept' where the input changes between
				     stacks and text */
  size_t nturns;
} Compressor;

/*
** Opens a compressor. Returns 0 if there is not enough memory. compressor_close must be called in
** either case.
*/
int compressor_open (Compressor *p, int how);

/*
** Compresses n bytes. 'then': MORE input follows; FLUSH (PK1); or END, after which only
** compressor_close may be called.
*/
void compressor_put (Compressor *p, const unsigned char *data, size_t n, int then,
                     CompressorSink sink, void *ud);

/*
** Declares the following input to be text (1) or stacks (0, as initially). LIVE gives each kind its
** own Huffman codes, and zlib skips the shortest matches among the digits of a text, which
** gives smaller output. While zlib is in use, some of more than COMPRESSOR_TURNS changes between
** two flushes are ignored. SMALL and FAST ignore all changes.
*/
void compressor_text (Compressor *p, int text, CompressorSink sink, void *ud);

/*
** Stores the bytes that would end the gzip member here, for callers that could not write later
** output. To be called directly after a FLUSH. Returns the number of bytes; 0: no member is open.
*/
#define COMPRESSOR_ENDING	16
size_t compressor_ending (const Compressor *p, unsigned char ending[COMPRESSOR_ENDING]);

/* For LIVE: drops the pending input and output, and starts another member, of zlib. */
void compressor_restart (Compressor *p);

void compressor_close (Compressor *p);

#endif
