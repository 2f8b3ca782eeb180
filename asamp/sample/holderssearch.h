/* SPDX-License-Identifier: MIT */
/*
** Finds holders (holders.h) in a child process, which has a copy of the heap. So the program stops
** only for the fork. It receives the result from holderssearch_poll after a later collection.
** Rules:
**
**   HA1  there is at most one query at a time. Its result lists the owners in the order of the
**        query;
**   HA2  holderssearch_end drops the query and kills the child;
**   HA3  if the program forks, the new process has no query, because the searching child is not
**        its child;
**   HA4  there is no result (-1 of holderssearch_poll) if the child lacks memory, fails or is
**        killed, or if the result is too large.
*/
#ifndef asamp_holderssearch_h
#define asamp_holderssearch_h

#include "holders.h"

#include <sys/types.h>

/*
** A child process does the search if the heap has this many bytes in use. A search takes 0.28 s
** for 1 GiB, and more with many samples; a fork takes about 20 ms (bench/heap).
*/
#define HOLDERSSEARCH_HEAP	BOUND(UINT64_C(4) << 20, UINT64_C(64) << 10)

/* A search that runs in a child process. All zero: none. */
typedef struct HoldersSearch {
  pid_t child;			/* Process id of the child that searches; 0: no search is
				   running. */
  pid_t parent;			/* Process that started the search. */
  struct HoldersAnswer *answer;	/* memory shared with the child, in which it writes the result */
  size_t size, n;	/* 'size': bytes of the shared memory. 'n': number of objects to which paths
			   are searched. */
  uint64_t start, nanoseconds;	/* The time for which the program was stopped by the fork, in ns:
				   its start (CLOCK_MONOTONIC) and its length. */
} HoldersSearch;

/* Starts a search for the paths of references to the n objects in the list of owners. No other
   search may be running. Returns 0 if no child process or no memory is available. */
int holderssearch_start (HoldersSearch *a, lua_State *L, const void *const *owners, size_t n);

/* Checks whether the child has finished the search. Returns 0 if not. Returns 1 if the result is in
   *h, which the caller frees with holders_free, or -1 if there is none; then the search has
   ended. */
int holderssearch_poll (HoldersSearch *a, Holders *h);

/* Ends the search, if one is running: kills the child and waits until it has ended. */
void holderssearch_end (HoldersSearch *a);

#endif
