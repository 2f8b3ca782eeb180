/* SPDX-License-Identifier: MIT */
/*
** The end of malloc's heap. As soon as more than 128 KiB are free there malloc gives them back to
** the system, which clears them anew for whoever asks next. The chunks of the states of
** luaL_newstate are mapped, so their large blocks, which the sweeps of a collection free some at a
** time, are often all that malloc has: strings of 8 KB to 10 MB that are made and dropped took up
** to six times as long as in a heap of small blocks. So one block stays, of all states of the
** process: of those that are freed the one that lies last. It is freed when no large
** block was for a second, and by a full collection. (What is free before the end: giveback.h.)
*/
#ifndef luaN_endblock_h
#define luaN_endblock_h

#include <stddef.h>

/* May a block of n bytes be the one that stays? From 8 KiB, of which a sweep may free very many, to
   16 MiB. */
#define luaN_mayend(n)	((n) - (size_t)8 * 1024 <= (size_t)16376 * 1024)

/* The block at p, of luaN_alloc, is to be freed at so many milliseconds. Returns what is to be
   freed in its place: p, the one that has stayed, or NULL. On any OS thread. */
LUAI_FUNC void *luaN_keepend (void *p, unsigned ms);

/* The one that stays, if it is time to free it, or 'now'; or NULL. */
LUAI_FUNC void *luaN_takeend (unsigned ms, int now);

#endif
