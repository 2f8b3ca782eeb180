/* SPDX-License-Identifier: MIT */
/* Allocates by mapping pages, for the child of a fork, which must not call malloc: another thread
   may have held malloc's mutex during the fork. */
#ifndef asamp_pages_h
#define asamp_pages_h

#include <stddef.h>

/* Like lua_Alloc, but new blocks are zero and 'ud' is ignored. Returns NULL and changes nothing if
   out of memory. */
void *pages_realloc (void *ud, void *block, size_t old, size_t size);

#endif
