/* SPDX-License-Identifier: MIT */
/*
** Mapped memory for the chunks of states of luaL_newstate, and spare mappings.
**
** The reason for spares: if a host makes a state for each request and closes it, the system would
** map and clear the same memory each time. That took as long as the work of the request, and up to
** three times as long as malloc, which keeps freed memory. So mappings of a closed state, except
** huge chunks, may be kept as spares for the next states of any OS thread.
**
** Spares are kept only if another state was closed less than a second before: as many bytes as
** states have requested since that close, up to 32 MiB. So the first state of a series leaves no
** spares, and neither do states that are closed together.
**
** If no state was closed for a second, the next collection (luaN_trimheap) or close of any state
** frees all spares. They are also freed if the system refuses a mapping.
*/
#ifndef luaN_mapped_h
#define luaN_mapped_h

#include <stddef.h>

/* Bytes of a block of the heap that is not a small block. The address of such a block is a multiple
   of this number. */
#define LUAN_BLOCK	32768u

/* Number of blocks of the largest spare mapping. The size of a mapping is a multiple of
   LUAN_BLOCK. */
#define LUAN_MAPUNITS	32u

/* Maps 'size' bytes, aligned to 'to' (a power of 2), at address 'at' if possible (NULL:
   anywhere), and returns their address. If the system refuses, unmaps all spare mappings and
   tries again. Returns NULL if that fails, too. */
LUAI_FUNC char *luaN_map (size_t size, size_t to, char *at);

/* Unmaps 'size' bytes at p. munmap may fail if the process has too many mappings to split the one
   that contains the bytes; then only releases their pages. */
LUAI_FUNC void luaN_unmap (char *p, size_t size);

/* Returns a spare mapping, one that a closed state has left for other states, or NULL if there
   is none of at most *size bytes. Takes the largest one and sets *size to its size. Its contents
   are arbitrary. In both cases, the initial *size counts as requested (luaN_closespares). If
   another OS thread is using the spares, or *size is above LUAN_MAPUNITS blocks, returns NULL
   and counts nothing. */
LUAI_FUNC char *luaN_takespare (size_t *size);

/* Computes how many bytes of spare mappings may be kept from now on, and unmaps those above that
   limit. To be called before the mappings of a closed state are freed. Returns 1 if another
   state was closed within the last second, else 0. 'ms' is the time in milliseconds. While
   another OS thread is using the spares, does nothing and returns 0. */
LUAI_FUNC int luaN_closespares (unsigned ms);

/* Keeps a mapping of a closed state for the next states (as a spare mapping) if the limit that
   luaN_closespares has computed allows that; otherwise unmaps it. */
LUAI_FUNC void luaN_unmapclosed (char *p, size_t size);

/* Unmaps all spare mappings if no state was closed for a second ('ms' is the current time in
   milliseconds), or if 'now' is set. Does nothing while another OS thread is using the spares. */
LUAI_FUNC void luaN_freespares (unsigned ms, int now);

#endif
