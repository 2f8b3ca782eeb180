/* SPDX-License-Identifier: MIT */
/*
** Pool of memory for walks of the C stack (unwind.h), including the cached rules of the
** process's code: 128 KiB each, shared by all states, because ten thousand states have no more
** walks at a time than there are OS threads that run them. A later walk uses the rules that
** earlier ones looked up.
**
**   WP1  an Unwind that was taken belongs to the taker alone, until it is returned to the pool;
**   WP2  the child of a fork has those that were in the pool; the others are lost.
*/
#ifndef asamp_unwindpool_h
#define asamp_unwindpool_h

#include "unwind.h"

/*
** Returns memory for a walk; NULL if there is not enough memory. Thread-safe, but not
** async-signal-safe.
*/
Unwind *unwindpool_take (void);

/* Returns an Unwind to the pool, or frees it if the pool is full. NULL: no effect. */
void unwindpool_give (Unwind *u);

#endif
