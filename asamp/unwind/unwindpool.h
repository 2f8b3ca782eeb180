/* SPDX-License-Identifier: MIT */
/*
** A pool of memory for walks (unwind.h). Each element has 128 KiB with cached rules, which later
** walks reuse. All Lua states share the pool, because an OS thread makes only one walk at a time.
**
**   WP1  a taken Unwind belongs to the taker until it is returned;
**   WP2  the child of a fork has only the elements that are in the pool, not those taken by other
**        threads.
*/
#ifndef asamp_unwindpool_h
#define asamp_unwindpool_h

#include "unwind.h"

/* Returns memory for a walk, or NULL. Thread-safe, not async-signal-safe. */
Unwind *unwindpool_take (void);

/* Returns an Unwind to the pool, or frees it if the pool is full. */
void unwindpool_give (Unwind *u);

#endif
