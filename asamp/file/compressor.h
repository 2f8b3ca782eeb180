/* SPDX-License-Identifier: MIT */
/*
** Compresses bytes to the gzip format.
**
** There are three methods. SMALL is zlib. FAST is ISA-L's deflate, which takes a tenth of zlib's
** time, for an output that is larger by a quarter to a half. Built without ISA-L, FAST is zlib,
** tuned for records of stacks. LIVE is for a profile that is read while its program runs: it uses
** zlib if there are few bytes between two flushes, and else FAST. Independent of files. Rules:
**
**   PK1  after FLUSH, all bytes put so far can be decompressed from the output;
**   PK2  SMALL and FAST produce one member of the gzip file, because some readers, such as
**        browsers, read only the first member. LIVE starts another member whenever it changes
**        between zlib and FAST;
**   PK3  LIVE keeps its input until the flush, and then compresses it by zlib. If more than
**        COMPRESSOR_LIGHT bytes come between two flushes, it changes to FAST. It changes back
**        after a flush before which less than half of COMPRESSOR_LIGHT came. So zlib's time
**        between two flushes is bounded, and a heavy load does not use zlib;
**   PK4  output comes in pieces of nearly COMPRESSOR_PIECE bytes. The rest comes at a flush and at
**        the end, so a flush of few bytes is one write.
**
** Memory: 64 KiB, plus 384 KiB for zlib or 356 KiB for ISA-L. LIVE takes both, plus
** COMPRESSOR_LIGHT. All of it is allocated at the start, so nothing fails later.
*/
#ifndef asamp_compressor_h
#define asamp_compressor_h

#include <stddef.h>
#include <zlib.h>

#define COMPRESSOR_PIECE	65536    /* largest number of bytes passed to the sink at once */
#ifndef COMPRESSOR_LIGHT         /* most bytes between two flushes that LIVE compresses by zlib; a
				    build for slow execution, as under callgrind, sets fewer */
#define COMPRESSOR_LIGHT	(64u * 1024)
#endif
#define COMPRESSOR_TURNS	16  /* LIVE: largest number of changes between the two kinds of
				       input, records of stacks and text (compressor_text), that are
				       recorded between two flushes */

enum { COMPRESSOR_SMALL, COMPRESSOR_FAST, COMPRESSOR_LIVE };
enum { COMPRESSOR_MORE, COMPRESSOR_FLUSH, COMPRESSOR_END };

/* Callback that takes output. Returns 0 to stop the compressor. */
typedef int (*CompressorSink) (void *ud, const unsigned char *data, size_t n);

/* A compressor. All zero: not open. */
typedef struct Compressor {
  int how;
  int isfast;                 /* 1: the open member is compressed by 'fast', 0: by 'z' */
  struct isal_zstream *fast;
  int hasz;                   /* 1: zlib was initialized ('z') */
  z_stream z;
  unsigned char *packed;      /* buffer for output, of COMPRESSOR_PIECE bytes */
  size_t npacked;             /* bytes of 'packed' not yet passed on */
  /* the following fields are used by the method LIVE only */
  size_t load;                /* bytes put since the last flush */
  unsigned char *kept;        /* the bytes put since the last flush, if the open member is
			         compressed by zlib */
  int text;                   /* 1: the present input is text, 0: records of stacks
			         (compressor_text) */
  int packedtext;             /* 1: the bytes compressed last are text */
  size_t turns[COMPRESSOR_TURNS]; /* positions in 'kept' where the input changes between records of
				     stacks and text */
  size_t nturns;
} Compressor;

/*
** Opens a compressor for a method. Returns 0 if there is not enough memory. Also in this case,
** compressor_close must be called.
*/
int compressor_open (Compressor *p, int how);

/*
** Compresses n bytes. 'then' is MORE if more input follows, FLUSH if all bytes so far must be in
** the output afterwards (PK1), or END. After END, only compressor_close may be called.
*/
void compressor_put (Compressor *p, const unsigned char *data, size_t n, int then,
                     CompressorSink sink, void *ud);

/*
** Declares whether the following input is text (1) or records of stacks, which consist of words of
** 8 bytes (0, the initial value). LIVE then gives each kind its own Huffman codes, and makes zlib
** skip the shortest matches among the digits of a text: the output is smaller. After
** COMPRESSOR_TURNS changes between two flushes, LIVE ignores some while it uses zlib. SMALL and
** FAST ignore the kind of input.
*/
void compressor_text (Compressor *p, int text, CompressorSink sink, void *ud);

/* Stores in 'ending' the bytes that would end the gzip member at this point of the output, and
   returns their number; 0: no member is open. Called directly after a FLUSH. A caller that cannot
   write the later output writes these bytes instead. */
#define COMPRESSOR_ENDING	16
size_t compressor_ending (const Compressor *p, unsigned char ending[COMPRESSOR_ENDING]);

/* Drops the pending input and output of a LIVE compressor, and starts another member with zlib. */
void compressor_restart (Compressor *p);

void compressor_close (Compressor *p);

#endif
