/* SPDX-License-Identifier: MIT */
/*
** Mapped memory for the chunks of states of luaL_newstate, and spare mappings. A host may make and
** close a state for each request; mapping and clearing the same memory each time took as long as
** the work of the request. So mappings of a closed state, except huge chunks, may be kept as spares
** for new states of any OS thread.
**
** When a state is closed, a limit for the bytes of all spares is computed:
** - 0 if no other state was closed within the last second
** - otherwise the bytes of the mappings that states have requested since the previous state was
**   closed, but at most 32 MiB
**
** If no state was closed for a second, the next collection or close unmaps all spares. They are
** also unmapped if the system refuses a mapping.
*/
#pragma once

#include <stddef.h>

/* Bytes of a block that is not small, and its alignment. */
#define LUAN_BLOCK	32768u

/* number of blocks of the largest mapping that is kept for other states (spare mapping) */
#define LUAN_MAPUNITS	32u

/* Maps 'size' bytes, aligned to 'to' (a power of 2), at address 'at' if possible, and returns the
   address of the mapping. If the system refuses, unmaps the spare mappings and tries again. Returns
   NULL if the system refuses again. */
LUAI_FUNC char *luaN_map (size_t size, size_t to, char *at);

/* Unmaps 'size' bytes at p. If munmap fails, because the process has too many mappings, returns the
   pages to the system but keeps the addresses. */
LUAI_FUNC void luaN_unmap (char *p, size_t size);

/* Returns the largest spare mapping (left by a closed state) of at most *size bytes, and sets *size
   to its size. Returns NULL if there is none, or if another OS thread uses the spare mappings. Adds
   the requested bytes to the number that luaN_closespares reads. The mapping has arbitrary
   contents. */
LUAI_FUNC char *luaN_takespare (size_t *size);

/*
** To be called when a state is closed, before its mappings are freed. Sets the limit for spare
** mappings (those of closed states that are kept for new states): 0 if no other state was closed in
** the last second, otherwise the bytes of the mappings requested since that state was closed, at
** most 32 MiB. Unmaps spare mappings above the limit.
**
** Returns 1 if another state was closed in the last second. Does nothing and returns 0 if another
** OS thread uses the spare mappings. ms: present time in milliseconds.
*/
LUAI_FUNC int luaN_closespares (unsigned ms);

/* Keeps a mapping of a closed state for other states if the limit of luaN_closespares allows that,
   else unmaps it. */
LUAI_FUNC void luaN_unmapclosed (char *p, size_t size);

/* Unmaps all spare mappings (left by closed states) if 'now' is set or no state was closed for a
   second. Does nothing while another OS thread uses the spare mappings. ms: the present time in
   milliseconds; not used if 'now' is set. */
LUAI_FUNC void luaN_freespares (unsigned ms, int now);
