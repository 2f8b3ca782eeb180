/* SPDX-License-Identifier: MIT */
/*
** Mapped memory for the chunks of states of luaL_newstate.
**
** A host that makes a state for each request and closes it would have the system map and clear the
** same memory each time: that took as long as the work of the request, and up to three times as
** long as malloc, which keeps freed memory. So mappings of a closed state may be kept as spares for
** the next states, of any OS thread: as many bytes as states have requested since the previous
** close, up to 32 MiB, if that close was less than a second ago. The first state of a series, and
** states that are closed together, leave no spares. Spares are freed by the first collection or
** close of any state a second or more after the last close; or when the system refuses a mapping.
*/
#ifndef luaN_mapped_h
#define luaN_mapped_h

#include <stddef.h>

/* Bytes of a block, and its alignment unless it is a small block. */
#define LUAN_BLOCK	32768u

/* Blocks of the largest spare mapping. The sizes of mappings are multiples of a block. */
#define LUAN_MAPUNITS	32u

/* Maps 'size' bytes, aligned to 'to', at address 'at' if that is possible ('at' NULL: anywhere).
   Returns NULL if the system has no memory. */
LUAI_FUNC char *luaN_map (size_t size, size_t to, char *at);

/* Unmaps 'size' bytes at p. If the process has too many mappings to split the one that contains
   them, only releases their pages. */
LUAI_FUNC void luaN_unmap (char *p, size_t size);

/* Returns the largest spare mapping of at most *size bytes and sets *size to its size, a multiple
   of LUAN_BLOCK. It is aligned to LUAN_BLOCK, and its contents are arbitrary. Returns NULL if there
   is none. */
LUAI_FUNC char *luaN_takespare (size_t *size);

/*
** To be called before the mappings of a closed state are freed; 'ms' is the current time in
** milliseconds. Sets how many bytes may be kept. Returns 1 if another state was closed within the
** last second.
*/
LUAI_FUNC int luaN_closespares (unsigned ms);

/* Unmaps a mapping of a closed state, or keeps it as a spare. */
LUAI_FUNC void luaN_unmapclosed (char *p, size_t size);

/* Unmaps all spares if no state was closed for a second, or if 'now' is set. */
LUAI_FUNC void luaN_freespares (unsigned ms, int now);

#endif
