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
**   PK3  LIVE keeps what it is given until the flush. If that is PACKER_LIGHT
**        bytes at most, zlib packs it; otherwise FAST does, and all that follows
**        until a flush that has less than half as much before it. So zlib's time
**        between two flushes is bounded, and a heavy load has none of it;
**   PK4  what comes out comes in pieces of nearly PACKER_PIECE bytes, and the rest at
**        a flush and at the end: a flush of little is one write.
** Memory: 64 KiB; zlib 384 KiB, ISA-L 356; LIVE both, and PACKER_LIGHT. All of it
** is there from the start: nothing fails later.
*/
#ifndef asamp_packer_h
#define asamp_packer_h

#include <stddef.h>
#include <zlib.h>

#define PACKER_PIECE	65536    /* bytes that come out at a time, at most */
#ifndef PACKER_LIGHT         /* where time is slow, as under callgrind, less */
#define PACKER_LIGHT	(512u * 1024)
#endif
#define PACKER_TURNS	16

enum { PACKER_SMALL, PACKER_FAST, PACKER_LIVE };
enum { PACKER_MORE, PACKER_FLUSH, PACKER_END };

/* Takes what comes out. 0: no more is wanted. */
typedef int (*PackerSink) (void *ud, const unsigned char *data, size_t n);

/* All zero: not open. */
typedef struct Packer {
  int how;
  int isfast;                 /* it is FAST's turn */
  struct isal_zstream *fast;
  int hasz;                   /* 'z' is open */
  z_stream z;
  unsigned char *packed;      /* PACKER_PIECE bytes, ... */
  size_t npacked;             /* ... of which so many wait to be handed on */
  /* LIVE */
  size_t load;                /* bytes since the last flush, ... */
  unsigned char *kept;        /* ... which are here while it is zlib's turn */
  int text;                   /* what comes is text, ... */
  int packedtext;             /* ... or what was packed last */
  size_t turns[PACKER_TURNS]; /* where in 'kept' one becomes the other */
  size_t nturns;
} Packer;

/* 0: no memory; packer_close is due in either case. */
int packer_open (Packer *p, int how);

/*
** Packs n bytes, 'then': there is MORE to come; FLUSH (PK1); the END, after
** which only packer_close may come.
*/
void packer_put (Packer *p, const unsigned char *data, size_t n, int then,
                 PackerSink sink, void *ud);

/*
** What follows is text (1), or stacks (0, as from the start). LIVE gives each
** codes of its own, and zlib leaves the shortest repetitions among the digits of
** a text alone, which takes less. With more than PACKER_TURNS changes between two
** flushes some are passed over. SMALL and FAST do so with all.
*/
void packer_text (Packer *p, int text, PackerSink sink, void *ud);

/*
** The bytes that end the gzip file's member here, as if nothing more came: to be
** written behind what came out of the last flush, by who cannot write what came out
** after it. Returns how many; 0: no member is open.
*/
#define PACKER_ENDING	16
size_t packer_ending (const Packer *p, unsigned char ending[PACKER_ENDING]);

/* LIVE: forgets what has not come out, and begins another member. */
void packer_restart (Packer *p);

void packer_close (Packer *p);

#endif
