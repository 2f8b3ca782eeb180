/* SPDX-License-Identifier: MIT */
/*
** A gzip stream: bytes in, packed bytes out to a sink, piece by piece.
**
** Owns the state of ISA-L's deflate, level 1: stacks repeat the one before but
** for a few words, which it finds as well as any and several times as fast.
** Knows no file. Rules:
**   GZ1  one member, whatever is put;
**   GZ2  what was put before gzip_flush can be unpacked from what the sink
**        had until its return.
*/
#ifndef asamp_gzip_h
#define asamp_gzip_h

#include <stddef.h>

typedef struct Gzip Gzip;

/* Is given 1 to 65,536 packed bytes, which hold during the call. */
typedef void (*GzipSink) (void *ud, const unsigned char *data, size_t n);

/* NULL without memory; nothing else allocates. */
Gzip *gzip_new (GzipSink sink, void *ud);
void gzip_free (Gzip *g);

void gzip_put (Gzip *g, const unsigned char *data, size_t n);
/* 'last': ends the stream, after which nothing can be put. */
void gzip_flush (Gzip *g, int last);

#endif
