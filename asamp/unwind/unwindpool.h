/* SPDX-License-Identifier: MIT */
/*
** A pool of memory for walks of the C stack (unwind.h). An element has 128 KiB and includes the
** cached rules of the process's code, so a later walk uses the rules that earlier ones looked up.
** All states share the pool, because at any time there are no more walks than OS threads, even
** with ten thousand states.
**
**   WP1  an Unwind that was taken belongs to the taker alone until it is returned to the pool;
**   WP2  after a fork, the child has the elements that were in the pool; the others are lost.
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
