/* SPDX-License-Identifier: MIT */
/*
** Decompresses gzip files, member by member.
**
** Uses ISA-L's inflate, which takes a third of the time of zlib's. If built without ISA-L, uses
** zlib's. Independent of files. Rule:
**
**   UP1  if data are damaged, all data before the damage are returned before the damage is
**        reported.
*/
#ifndef asamp_decompressor_h
#define asamp_decompressor_h

#include <stddef.h>

typedef struct Decompressor Decompressor;

enum { DECOMPRESSOR_MORE, DECOMPRESSOR_END, DECOMPRESSOR_BAD };

/*
** Makes a decompressor. Returns NULL if there is not enough memory. After that only zlib allocates
** memory, in its first step.
*/
Decompressor *decompressor_new (void);
void decompressor_free (Decompressor *u);

/*
** Decompresses from *in, which has *nin bytes, to *out, which has space for *nout bytes. Advances
** *in and *out and reduces *nin and *nout. Returns
**   - END at the end of a member; the next step starts another one
**   - BAD if the data are corrupt
**   - else MORE; more input is needed if no byte was read or written although there is space
** A step may write output from the decompressor's buffer without reading input.
*/
int decompressor_step (Decompressor *u, const unsigned char **in, size_t *nin,
                       unsigned char **out, size_t *nout);

/* Returns 1 if at least the first 10 bytes of the current member's header were read. */
int decompressor_inmember (const Decompressor *u);

#endif
