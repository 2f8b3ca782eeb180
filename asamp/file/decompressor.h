/* SPDX-License-Identifier: MIT */
/*
** Decompression: a gzip file's bytes in, what was packed out, member by member.
**
** ISA-L's inflate takes a third of zlib's time, which stands in where the
** library was not there to build with. Knows no file. Rule:
**   UP1  what precedes damage comes out before it is told.
*/
#ifndef asamp_decompressor_h
#define asamp_decompressor_h

#include <stddef.h>

typedef struct Decompressor Decompressor;

enum { DECOMPRESSOR_MORE, DECOMPRESSOR_END, DECOMPRESSOR_BAD };

/* NULL without memory; nothing else allocates but the first step (zlib). */
Decompressor *decompressor_new (void);
void decompressor_free (Decompressor *u);

/*
** Unpacks from *in, *nin bytes, to *out, room for *nout; moves all four. END:
** of a member, the next step begins another; BAD: the data are corrupt. When
** nothing has moved and there is room, more input is needed; bytes may come out
** without any, as some wait within.
*/
int decompressor_step (Decompressor *u, const unsigned char **in, size_t *nin,
                       unsigned char **out, size_t *nout);

/* Has the head of the member that was begun been read? */
int decompressor_inmember (const Decompressor *u);

#endif
