/* SPDX-License-Identifier: MIT */
/*
** Mapped memory for the chunks of states of luaL_newstate.
**
** A host that makes a state for each request and closes it would have the system map and clear the
** same memory each time: that took as long as the work of the request, and up to three times as
** long as malloc, which keeps freed memory. So mappings of a closed state, except huge chunks, may
** be kept as spares for the next states, of any OS thread: as many bytes as states have requested
** since the previous close, up to 32 MiB, if that close was less than a second ago. The first state
** of a series, and states that are closed together, leave no spares. Spares are freed by the first
** collection (luaN_trimheap) or close of any state a second or more after the last close; or when
** the system refuses a mapping.
*/
#ifndef luaN_mapped_h
#define luaN_mapped_h

#include <stddef.h>

/* Bytes, and alignment, of a block that is not a small block. */
#define LUAN_BLOCK	32768u

/* Blocks of the largest spare mapping. The size of a mapping is a multiple of LUAN_BLOCK. */
#define LUAN_MAPUNITS	32u

/* Maps 'size' bytes, aligned to 'to' (a power of 2), at address 'at' if possible (NULL: anywhere).
   Frees the spares if the system refuses; returns NULL if it refuses again. */
LUAI_FUNC char *luaN_map (size_t size, size_t to, char *at);

/* Unmaps 'size' bytes at p. If munmap fails, because the process has too many mappings to split the
   one that contains the bytes, only releases their pages. */
LUAI_FUNC void luaN_unmap (char *p, size_t size);

/* Returns the largest spare mapping of at most *size bytes, with arbitrary contents, and sets *size
   to the mapping's size. Returns NULL if there is none, if another OS thread is using the spares,
   or if *size is above LUAN_MAPUNITS blocks. Except in the last two cases, counts *size as
   requested. */
LUAI_FUNC char *luaN_takespare (size_t *size);

/*
** To be called before the mappings of a closed state are freed; 'ms' is the current time in
** milliseconds. Sets how many bytes of spares may be kept and unmaps the rest. Returns 1 if another
** state was closed within the last second. Does nothing, and returns 0, while another OS thread is
** using the spares.
*/
LUAI_FUNC int luaN_closespares (unsigned ms);

/* Keeps a mapping of a closed state as a spare if luaN_closespares allows, else unmaps it. */
LUAI_FUNC void luaN_unmapclosed (char *p, size_t size);

/* Unmaps all spares if no state was closed for a second, or if 'now' is set; does nothing while
   another OS thread is using the spares. */
LUAI_FUNC void luaN_freespares (unsigned ms, int now);

#endif
