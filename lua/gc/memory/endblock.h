/* SPDX-License-Identifier: MIT */
/*
** Keeps one freed block at the end of malloc's heap. malloc returns the end of its heap to the
** system as soon as more than 128 KiB are free there, and the system clears the memory again for
** the next request. A state of luaL_newstate has only its large blocks in malloc's heap, and each
** sweep frees some: without the kept block, programs that make and drop large strings took up to
** six times as long.
**
** All states of the process share the kept block: the freed block with the highest address.
** luaN_freeend (host.h) frees it in luaC_fullgc, and in other collections if no block was offered
** for a second.
*/
#ifndef luaN_endblock_h
#define luaN_endblock_h

#include <stddef.h>

/* True if a freed block of n bytes may be kept, so that the end of malloc's heap is not returned to
   the system: n is from 8 KiB to 16 MiB. */
#define luaN_mayend(n)	((n) - (size_t)8 * 1024 <= (size_t)16376 * 1024)

/* Offers the block at p, which the caller is about to free, as the one block that is kept. Keeps
   this block if its address is below the program break and above that of the block kept before.
   Returns the block that the caller must free: p, the block kept before, or NULL. ms: time in
   milliseconds. Thread-safe. */
LUAI_FUNC void *luaN_keepend (void *p, unsigned ms);

/* Stops keeping the freed block at the end of malloc's heap, and returns it; the caller must free
   it. Returns NULL if no block is kept, if another OS thread uses it, or if luaN_keepend was called
   less than a second ago and 'now' is 0. ms: present time in milliseconds. Thread-safe. */
LUAI_FUNC void *luaN_takeend (unsigned ms, int now);

#endif
