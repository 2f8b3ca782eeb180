/* SPDX-License-Identifier: MIT */
/*
** Decompresses gzip files, member by member.
**
**   UP1  if data are damaged, decompressor_step returns all data before the damage first.
*/
#ifndef asamp_decompressor_h
#define asamp_decompressor_h

#include <stddef.h>

typedef struct Decompressor Decompressor;

enum { DECOMPRESSOR_MORE, DECOMPRESSOR_END, DECOMPRESSOR_BAD };

/* Makes a decompressor. Returns NULL if out of memory. */
Decompressor *decompressor_new (void);
void decompressor_free (Decompressor *u);

/* Decompresses bytes from *in (*nin bytes) to *out (*nout bytes), and advances both. Returns END at
   the end of a member, BAD if the data are corrupt, else MORE. If a call with the result MORE has
   read and written nothing, it needs more input. */
int decompressor_step (Decompressor *u, const unsigned char **in, size_t *nin,
                       unsigned char **out, size_t *nout);

/* Returns 1 if the header of the member that the last decompressor_step has read was read to its
   end. */
int decompressor_inmember (const Decompressor *u);

#endif
