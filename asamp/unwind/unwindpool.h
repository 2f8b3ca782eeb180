/* SPDX-License-Identifier: MIT */
/*
** A pool of memory for walks (unwind.h), 128 KiB each with cached rules, so that later walks reuse
** them. All states share it: there are no more walks at a time than OS threads.
**
**   WP1  a taken Unwind belongs to the taker until it is returned;
**   WP2  after a fork the child has those in the pool; the others are lost.
*/
#ifndef asamp_unwindpool_h
#define asamp_unwindpool_h

#include "unwind.h"

/* Returns memory for a walk, or NULL. Thread-safe, not async-signal-safe. */
Unwind *unwindpool_take (void);

/* Returns an Unwind to the pool, or frees it if the pool is full. */
void unwindpool_give (Unwind *u);

#endif
