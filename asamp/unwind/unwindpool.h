/* SPDX-License-Identifier: MIT */
/*
** Memory for walks of the C stack (unwind.h), which has rules of the process's code: 128 KiB
** that all states share, for ten thousand of them have no more walks at a time than there are
** OS threads that run them. What one walk has looked up the next one knows, whosever it is.
**
**   WP1  an Unwind that was taken is its taker's alone; one that was given back may be anybody's.
**   WP2  the child of a fork has those that were in the pool; what others had is lost.
*/
#ifndef asamp_unwindpool_h
#define asamp_unwindpool_h

#include "unwind.h"

/* For one walk; NULL: no memory. Any thread, no signal handler. */
Unwind *unwindpool_take (void);

/* Back. NULL: nothing. */
void unwindpool_give (Unwind *u);

#endif
