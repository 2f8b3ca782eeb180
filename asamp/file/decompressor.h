/* SPDX-License-Identifier: MIT */
/*
** Decompression of gzip files, member by member.
**
** Uses ISA-L's inflate, which takes a third of zlib's time; if built without ISA-L, zlib's.
** Independent of files. Rule:
**
**   UP1  all data before a damage are returned before the damage is reported.
*/
#ifndef asamp_decompressor_h
#define asamp_decompressor_h

#include <stddef.h>

typedef struct Decompressor Decompressor;

enum { DECOMPRESSOR_MORE, DECOMPRESSOR_END, DECOMPRESSOR_BAD };

/*
** Makes a decompressor; NULL if there is not enough memory. Later only zlib allocates, in its first
** step.
*/
Decompressor *decompressor_new (void);
void decompressor_free (Decompressor *u);

/*
** Decompresses from *in, with *nin bytes, to *out, with space for *nout bytes; updates all
** four. Returns END at the end of a member (the next step starts another one), BAD if the data
** are corrupt, else MORE. If nothing has advanced although there is space, more input is
** needed. Output may come without input, from the decompressor's buffer.
*/
int decompressor_step (Decompressor *u, const unsigned char **in, size_t *nin,
                       unsigned char **out, size_t *nout);

/* Returns 1 if the header of the current member, or at least its first 10 bytes, was read. */
int decompressor_inmember (const Decompressor *u);

#endif
