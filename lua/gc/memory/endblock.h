/* SPDX-License-Identifier: MIT */
/*
** Keeps one freed block at the end of malloc's heap.
**
** Why: malloc returns the end of its heap to the system as soon as more than 128 KiB are free
** there. The system must clear this memory again for the next request. A state of luaL_newstate
** has its small objects in chunks from mmap, so that malloc may have only its large blocks, and
** each sweep frees some of them. Programs that make and drop strings of 8 KB to 10 MB took up to
** six times as long.
**
** The kept block belongs to all states of the process together. It is the freed block with the
** highest address, of those whose size luaN_mayend allows. luaN_freeend (host.h) frees it:
**   - in luaC_fullgc, and usually when the last state of the process is closed
**   - in other collections, and when another state is closed, if luaN_keepend was not called in the
**     second before
**
** giveback.h is about free memory that is not at the end of malloc's heap.
*/
#ifndef luaN_endblock_h
#define luaN_endblock_h

#include <stddef.h>

/* True if a block of n bytes may be kept: from 8 KiB to 16 MiB. Blocks of 8 KiB are included
   because one sweep may free very many of them. */
#define luaN_mayend(n)	((n) - (size_t)8 * 1024 <= (size_t)16376 * 1024)

/* Keeps the block at p, which the caller is about to free, as the kept block (see the head), if
   it is below the program break and above the block kept so far. Returns the block that the
   caller must free instead: p if p is not kept, else the block kept so far (NULL: none).
   luaN_alloc must have allocated p. 'ms' is the time in milliseconds. Thread-safe: does not keep
   p while another OS thread uses the kept block. */
LUAI_FUNC void *luaN_keepend (void *p, unsigned ms);

/* Returns the kept block (see the head), which the caller must free, if luaN_keepend was not
   called for a second or 'now' is set. Otherwise, or while another OS thread uses the kept
   block, returns NULL. 'ms' is the time in milliseconds. Thread-safe. */
LUAI_FUNC void *luaN_takeend (unsigned ms, int now);

#endif
