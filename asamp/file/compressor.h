/* SPDX-License-Identifier: MIT */
/*
** Compression: bytes in, a gzip file's bytes out.
**
** SMALL is zlib as everybody has it. FAST is ISA-L's deflate, which takes a
** tenth of its time, for a file larger by a quarter to a half; where the library
** was not there to build with, zlib tuned for stacks stands in. LIVE is for a
** profile while its program runs: zlib where little comes between two flushes,
** FAST where it is much. Knows no file. Rules:
**   PK1  after FLUSH, what was put so far can be unpacked from what came out;
**   PK2  SMALL and FAST make one member of the gzip file (there are readers that
**        read no further, browsers among them); LIVE begins another one whenever
**        it changes from zlib to FAST or back;
**   PK3  LIVE keeps what it is given until the flush. If that is COMPRESSOR_LIGHT
**        bytes at most, zlib packs it; otherwise FAST does, and all that follows
**        until a flush that has less than half as much before it. So zlib's time
**        between two flushes is bounded, and a heavy load has none of it;
**   PK4  what comes out comes in pieces of nearly COMPRESSOR_PIECE bytes, and the rest at
**        a flush and at the end: a flush of little is one write.
** Memory: 64 KiB; zlib 384 KiB, ISA-L 356; LIVE both, and COMPRESSOR_LIGHT. All of it
** is there from the start: nothing fails later.
*/
#ifndef asamp_compressor_h
#define asamp_compressor_h

#include <stddef.h>
#include <zlib.h>

#define COMPRESSOR_PIECE	65536    /* bytes that come out at a time, at most */
#ifndef COMPRESSOR_LIGHT         /* where time is slow, as under callgrind, less */
#define COMPRESSOR_LIGHT	(512u * 1024)
#endif
#define COMPRESSOR_TURNS	16

enum { COMPRESSOR_SMALL, COMPRESSOR_FAST, COMPRESSOR_LIVE };
enum { COMPRESSOR_MORE, COMPRESSOR_FLUSH, COMPRESSOR_END };

/* Takes what comes out. 0: no more is wanted. */
typedef int (*CompressorSink) (void *ud, const unsigned char *data, size_t n);

/* All zero: not open. */
typedef struct Compressor {
  int how;
  int isfast;                 /* it is FAST's turn */
  struct isal_zstream *fast;
  int hasz;                   /* 'z' is open */
  z_stream z;
  unsigned char *packed;      /* COMPRESSOR_PIECE bytes, ... */
  size_t npacked;             /* ... of which so many wait to be handed on */
  /* LIVE */
  size_t load;                /* bytes since the last flush, ... */
  unsigned char *kept;        /* ... which are here while it is zlib's turn */
  int text;                   /* what comes is text, ... */
  int packedtext;             /* ... or what was packed last */
  size_t turns[COMPRESSOR_TURNS]; /* where in 'kept' one becomes the other */
  size_t nturns;
} Compressor;

/* 0: no memory; compressor_close is due in either case. */
int compressor_open (Compressor *p, int how);

/*
** Packs n bytes, 'then': there is MORE to come; FLUSH (PK1); the END, after
** which only compressor_close may come.
*/
void compressor_put (Compressor *p, const unsigned char *data, size_t n, int then,
                     CompressorSink sink, void *ud);

/*
** What follows is text (1), or stacks (0, as from the start). LIVE gives each
** codes of its own, and zlib leaves the shortest repetitions among the digits of
** a text alone, which takes less. With more than COMPRESSOR_TURNS changes between two
** flushes some are passed over. SMALL and FAST do so with all.
*/
void compressor_text (Compressor *p, int text, CompressorSink sink, void *ud);

/*
** The bytes that end the gzip file's member here, as if nothing more came: to be
** written behind what came out of the last flush, by who cannot write what came out
** after it. Returns how many; 0: no member is open.
*/
#define COMPRESSOR_ENDING	16
size_t compressor_ending (const Compressor *p, unsigned char ending[COMPRESSOR_ENDING]);

/* LIVE: forgets what has not come out, and begins another member. */
void compressor_restart (Compressor *p);

void compressor_close (Compressor *p);

#endif
