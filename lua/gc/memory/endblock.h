/* SPDX-License-Identifier: MIT */
/*
** Keeps one freed block at the end of malloc's heap. malloc returns memory to the system as soon
** as more than 128 KiB at the end of its heap are free, and the system clears it again for the
** next request. Most chunks of states of luaL_newstate are mapped, so malloc often has nothing but
** their large blocks, which the sweep frees some at a time: programs that make and drop strings
** of 8 KB to 10 MB took up to six times as long as with small strings. So one block is kept for
** all states of the process: of the freed blocks (luaN_mayend), the one with the highest address.
** luaN_freeend (host.h) frees the kept block: in luaC_fullgc, and in other collections and when a
** state is closed if no block was offered for a second. (giveback.h is about free memory before the
** end.)
*/
#ifndef luaN_endblock_h
#define luaN_endblock_h

#include <stddef.h>

/* True if a block of n bytes may be kept: 8 KiB (a sweep may free very many blocks of this size)
   to 16 MiB. */
#define luaN_mayend(n)	((n) - (size_t)8 * 1024 <= (size_t)16376 * 1024)

/*
** Offers the block at p, of luaN_alloc, which is to be freed; 'ms' is the current time in
** milliseconds. Returns the block to free: p, or, if p is kept, the block that was kept before or
** NULL. Thread-safe.
*/
LUAI_FUNC void *luaN_keepend (void *p, unsigned ms);

/* Returns the kept block, which the caller must free, if no block was offered for a second or 'now'
   is set. Returns NULL otherwise, or while another OS thread uses the kept block. Thread-safe. */
LUAI_FUNC void *luaN_takeend (unsigned ms, int now);

#endif
