/* SPDX-License-Identifier: MIT */
/*
** Address space that a thread keeps for when memory runs out (ulimit -v, say). A request
** of spare_malloc and its kin that is refused on the thread that has it gives a part back
** to the system, and asks again; on other threads they are malloc and its kin. Rules:
**   SR1  no page of it is ever touched: it takes no memory, only room;
**   SR2  what was given back is taken again when there is room (spare_keep), for the program
**        may be as short of it a second time.
*/
#ifndef asamp_spare_h
#define asamp_spare_h

#include <stddef.h>

#define SPARE_PART	(1u << 20)
#define SPARE_PARTS	4

/* All zero: nothing. */
typedef struct Spare {
  unsigned char *at;
  unsigned parts;		/* that are left */
} Spare;

/* Makes it whole, if there is room. 0: there is not; it is as it was. */
int spare_keep (Spare *s);

/* Gives all of it back: what comes needs memory that is not asked for here. */
void spare_spend (Spare *s);

/* This thread's from here on; the caller keeps it alive for as long as the thread. */
void spare_use (Spare *s);

void *spare_malloc (size_t n);
void *spare_calloc (size_t n, size_t size);
void *spare_realloc (void *block, size_t n);

#endif
