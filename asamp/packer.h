/* SPDX-License-Identifier: MIT */
/*
** Compression: bytes in, a gzip file's bytes out.
**
** FAST is for a profile while its program runs: what zlib takes there was most
** of the writer's time. ISA-L's deflate takes a tenth, for a file larger by a
** quarter or so; where the library was not there to build with, zlib tuned for
** stacks stands in. SMALL is zlib as everybody has it. Knows no file. Rule:
**   PK1 after FLUSH, what was put so far can be unpacked from what came out.
*/
#ifndef asamp_packer_h
#define asamp_packer_h

#include <stddef.h>
#include <zlib.h>

#define PACKER_PIECE	65536    /* bytes that come out at a time, at most */

enum { PACKER_SMALL, PACKER_FAST };
enum { PACKER_MORE, PACKER_FLUSH, PACKER_END };

/* Takes what comes out. 0: no more is wanted. */
typedef int (*PackerSink) (void *ud, const unsigned char *data, size_t n);

/* All zero: not open. */
typedef struct Packer {
  struct isal_zstream *fast;  /* NULL: it is zlib's */
  int open;
  z_stream z;
  unsigned char *packed;      /* PACKER_PIECE bytes */
} Packer;

/* 0: no memory; packer_close is due in either case. */
int packer_open (Packer *p, int how);

/*
** Packs n bytes, 'then': there is MORE to come; FLUSH (PK1); the END, after
** which only packer_close may come.
*/
void packer_put (Packer *p, const unsigned char *data, size_t n, int then,
                 PackerSink sink, void *ud);

void packer_close (Packer *p);

#endif
