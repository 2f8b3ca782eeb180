/* SPDX-License-Identifier: MIT */
/*
** A thread's reserve of address space, with which it can finish its work when memory runs out, for
** example because of ulimit -v. If spare_malloc, spare_calloc or spare_realloc finds no memory on
** this thread, it returns a part of the reserve to the system and tries again, until the reserve is
** empty. On other threads these functions are malloc, calloc and realloc.
**
**   SR1  the pages of the reserve are never touched: it uses address space, but no memory;
**   SR2  the thread refills its reserve with spare_keep when there is space again, because memory
**        may run out again.
*/
#ifndef asamp_spare_h
#define asamp_spare_h

#include <stddef.h>

#define SPARE_PART	(1u << 20)	/* bytes of a part */
#define SPARE_PARTS	4	/* number of parts */

/* A reserve. All zero: empty. */
typedef struct Spare {
  unsigned char *at;		/* start address; valid if 'parts' is not 0 */
  unsigned parts;		/* number of parts left */
} Spare;

/* Fills the reserve, unless it is full: maps a complete new reserve, and then unmaps the rest of
   the old one. If there is no space for a new reserve, returns 0 and changes nothing. */
int spare_keep (Spare *s);

/* Empties the reserve. To be called before code that allocates with malloc directly. */
void spare_spend (Spare *s);

/* Makes *s the reserve of this thread. *s must exist as long as the thread allocates here. */
void spare_use (Spare *s);

/* Like malloc, calloc and realloc; their blocks are freed with free. */
void *spare_malloc (size_t n);
void *spare_calloc (size_t n, size_t size);
void *spare_realloc (void *block, size_t n);

#endif
