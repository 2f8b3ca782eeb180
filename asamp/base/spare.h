/* SPDX-License-Identifier: MIT */
/*
** A thread's reserve of address space, to finish its work when memory runs out (ulimit -v). If
** malloc fails on this thread, spare_malloc unmaps a part of the reserve and tries again. On a
** thread without a reserve, spare_malloc only calls malloc. spare_calloc and spare_realloc do the
** same for calloc and realloc.
**
**   SR1  the pages of the reserve are never touched: it uses no memory;
**   SR2  the thread refills the reserve with spare_keep when it can.
*/
#ifndef asamp_spare_h
#define asamp_spare_h

#include <stddef.h>

#define SPARE_PART	(1u << 20)	/* size of a part of a reserve, bytes */
#define SPARE_PARTS	4	/* number of parts of a full reserve */
/* Number of parts of its reserve that a thread keeps for writing samples when it searches function
   names. It unmaps the other parts before the search (spare_spend), because the search maps large
   files and may use up all other address space. */
#define SPARE_OWN	2

/* A reserve of address space: parts of SPARE_PART bytes each, one after the other. If all bytes of
   this struct are 0, the reserve has no parts. */
typedef struct Spare {
  unsigned char *at;		/* lowest address of the reserve; unused if 'parts' is 0 */
  unsigned parts;		/* number of parts that are still mapped */
} Spare;

/* Fills the reserve: maps a new reserve, then unmaps the old one. Returns 0 and changes nothing if
   there is not enough address space. */
int spare_keep (Spare *s);

/* Unmaps parts of the reserve until 'left' parts remain, so that other code finds free address
   space. Call it before code that calls malloc or mmap instead of spare_malloc, such as the search
   for function names: such code cannot take parts of the reserve itself. */
void spare_spend (Spare *s, unsigned left);

/* Makes *s the reserve of the calling thread, until the next spare_use on that thread. */
void spare_use (Spare *s);

/* Like malloc, calloc and realloc; if these fail, unmap a part of the thread's reserve and try
   again. Free the result with free. */
void *spare_malloc (size_t n);
void *spare_calloc (size_t n, size_t size);
void *spare_realloc (void *block, size_t n);

#endif
