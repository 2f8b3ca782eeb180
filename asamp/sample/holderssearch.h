/* SPDX-License-Identifier: MIT */
/*
** Finds the references that keep samples alive (holders.h) in a forked child process: the program
** stops only for the fork. A later collection of the program fetches the result.
**
**   HA1  there is at most one search at a time. Holders.ids of the result has the order of 'owners'
**        in the call of holderssearch_start;
**   HA2  holderssearch_end drops the search and kills the child;
**   HA3  if the program forks during a search, the search continues only for the parent process;
**   HA4  there is no result if the child fails or is killed, or if the result is too large.
*/
#ifndef asamp_holderssearch_h
#define asamp_holderssearch_h

#include "holders.h"

#include <sys/types.h>

/* A child process searches if the heap has at least this number of bytes; a smaller heap is
   searched in the program's own process, which stops for the search. In a heap of 1 GiB a search
   takes 0.28 s or more, the fork about 20 ms (bench/heap). */
#define HOLDERSSEARCH_HEAP	BOUND(UINT64_C(4) << 20, UINT64_C(64) << 10)

/* A search that runs in a child process. All zero: none. */
typedef struct HoldersSearch {
  pid_t child;			/* Process id of the child that searches; 0: no search is
				   running. */
  pid_t parent;			/* Process that started the search. */
  struct HoldersAnswer *answer;	/* memory shared with the child, which writes the result there */
  /* size: bytes of the shared memory. n: number of owners, the objects to which the search finds
     paths. */
  size_t size, n;
  uint64_t start, nanoseconds;	/* start: start of the program's pause for the fork,
                                   CLOCK_MONOTONIC, ns. nanoseconds: length of this pause. */
} HoldersSearch;

/* Starts a child process that finds a path of references to each of the n owners, like
   holders_find. No other search may be running. Returns 0 if the fork fails or there is not enough
   memory. */
int holderssearch_start (HoldersSearch *a, lua_State *L, const void *const *owners, size_t n);

/* Returns 0 while the child searches, and -1 if the search has failed. Returns 1 when the search is
   finished, with the result in *h, for which the caller must call holders_free. */
int holderssearch_poll (HoldersSearch *a, Holders *h);

/* Ends the running search, if any: kills the child and waits for its end. */
void holderssearch_end (HoldersSearch *a);

#endif
