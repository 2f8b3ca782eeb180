/* SPDX-License-Identifier: MIT */
/*
** A thread's reserve of address space for times when memory runs out (ulimit -v, for example). If a
** request of spare_malloc and its variants fails on the thread that owns the reserve, a part of it
** is returned to the system and the request is repeated. On other threads these functions are
** malloc and its variants. Rules:
**
**   SR1  its pages are never touched: it uses address space, but no memory;
**   SR2  returned parts are reserved again when there is space (spare_keep), because memory may
**        run out again.
*/
#ifndef asamp_spare_h
#define asamp_spare_h

#include <stddef.h>

#define SPARE_PART	(1u << 20)	/* bytes of a part */
#define SPARE_PARTS	4	/* number of parts */

/* A reserve. All zero: empty. */
typedef struct Spare {
  unsigned char *at;
  unsigned parts;		/* number of parts left */
} Spare;

/* Fills the reserve. Returns 0 if there is no space; the reserve is then unchanged. */
int spare_keep (Spare *s);

/* Returns the whole reserve to the system, before code that allocates by other functions. */
void spare_spend (Spare *s);

/* Makes it the reserve of this thread. It must live as long as the thread. */
void spare_use (Spare *s);

void *spare_malloc (size_t n);
void *spare_calloc (size_t n, size_t size);
void *spare_realloc (void *block, size_t n);

#endif
