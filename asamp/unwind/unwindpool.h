/* SPDX-License-Identifier: MIT */
/*
** A pool of memory for walks of the C stack (unwind.h). An element has 32 KiB, most of it cached
** rules, which later walks reuse. All Lua states share the pool, because an OS thread makes only
** one walk at a time and so needs only one element.
**
**   WP1  an element that was taken belongs to the taker until it is returned;
**   WP2  in the child of a fork, the elements that other threads had taken are lost.
*/
#ifndef asamp_unwindpool_h
#define asamp_unwindpool_h

#include "unwind.h"

/* Takes an element from the pool, or allocates one. Returns NULL if out of memory. Thread-safe, not
   async-signal-safe. */
Unwind *unwindpool_take (void);

/* Returns an element to the pool, or frees it if the pool is full. */
void unwindpool_give (Unwind *u);

#endif
