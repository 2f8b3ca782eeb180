/* SPDX-License-Identifier: MIT */
/*
** Keeps one freed block at the end of malloc's heap. Without it, malloc returns the end of its heap
** to the system as soon as more than 128 KiB are free there, and the system clears the memory again
** for the next request. In states of luaL_newstate that would happen often: their chunks are
** mapped, so malloc may have nothing but their large blocks, and each sweep frees some. Programs
** that make and drop strings of 8 KB to 10 MB took up to six times as long.
**
** All states of the process share the kept block. It is the one with the highest address among the
** freed blocks whose size luaN_mayend allows. luaN_freeend (host.h) frees it in luaC_fullgc and
** usually when the last state of the process is closed. In other collections, and when another
** state is closed, it does so only if no block was offered for a second.
**
** giveback.h is about free memory that is not at the end of malloc's heap.
*/
#ifndef luaN_endblock_h
#define luaN_endblock_h

#include <stddef.h>

/* True if a block of n bytes may be kept: from 8 KiB to 16 MiB. Blocks of 8 KiB are included
   because one sweep may free very many of them. */
#define luaN_mayend(n)	((n) - (size_t)8 * 1024 <= (size_t)16376 * 1024)

/* Offers the block at p, which luaN_alloc has allocated and the caller is about to free, as the
   kept block. Keeps it if it is below the program break and above the block kept so far. Returns
   the block that the caller must free: p if it is not kept, else the block kept so far (NULL:
   none). 'ms' is the time in milliseconds. Thread-safe: does not keep p while another OS thread
   uses the kept block. */
LUAI_FUNC void *luaN_keepend (void *p, unsigned ms);

/* Stops keeping the kept block, and returns it for the caller to free, if no block was offered for
   a second or 'now' is set. Otherwise, or while another OS thread uses the kept block, returns
   NULL. Thread-safe. */
LUAI_FUNC void *luaN_takeend (unsigned ms, int now);

#endif
