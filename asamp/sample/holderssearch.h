/* SPDX-License-Identifier: MIT */
/*
** Finds holders (holders.h) in a child process that has a copy of the heap. The program stops
** only for the fork, and receives the result from holderssearch_poll after a later collection.
** Rules:
**
**   HA1  one query at a time; the result refers to the owners in the order of the query;
**   HA2  dropping the query kills the child;
**   HA3  after a fork, the program's own child has no query: the process that searches is not a
**        child of that child;
**   HA4  if the searching child has not enough memory, fails or is killed, or the result is too
**        large, there is no result (-1 of holderssearch_poll).
*/
#ifndef asamp_holderssearch_h
#define asamp_holderssearch_h

#include "holders.h"

#include <sys/types.h>

/*
** Bytes in use from which on a child does the search. A search takes 0.28 s for 1 GiB, more
** with many samples; a fork takes about 20 ms (bench/heap).
*/
#define HOLDERSSEARCH_HEAP	BOUND(UINT64_C(4) << 20, UINT64_C(64) << 10)

/* A query. All zero: none. */
typedef struct HoldersSearch {
  pid_t child;			/* Process id; 0: no query. */
  pid_t parent;			/* Process that made the query. */
  struct HoldersAnswer *answer;	/* shared memory */
  size_t size, n;	/* Bytes of 'answer'; number of owners. */
  uint64_t start, nanoseconds;	/* Start (CLOCK_MONOTONIC) and length of the time that the
				   program waited, ns. */
} HoldersSearch;

/* Starts a query; there must be none. Returns 0 if no child or no memory is available. */
int holderssearch_start (HoldersSearch *a, lua_State *L, const void *const *owners, size_t n);

/*
** For a started query: returns 1 if the result is in 'h' (the caller frees it with holders_free), 0
** if it is not ready, -1 if there will be none. Unless it returns 0, the query is finished.
*/
int holderssearch_poll (HoldersSearch *a, Holders *h);

/* Drops the query, if there is one, and waits until the child has ended. */
void holderssearch_end (HoldersSearch *a);

#endif
