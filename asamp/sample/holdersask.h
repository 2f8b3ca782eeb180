/* SPDX-License-Identifier: MIT */
/*
** Who holds what (holders.h), asked of a child process that has the heap as it was: the
** program stands still for the fork alone, and hears the answer when a later collection
** looks for it. Rules:
**   HA1  one question at a time; the answer is of the owners as they were asked for;
**   HA2  the child is killed when the question is dropped: nobody waits for an answer that
**        nobody wants;
**   HA3  after a fork the program's own child has no question, for the child that looks is
**        not its to wait for;
**   HA4  no answer comes where the child has no memory, or was killed: then none is told.
*/
#ifndef asamp_holdersask_h
#define asamp_holdersask_h

#include "holders.h"

#include <sys/types.h>

/* A heap above it is looked at by a child: a pass over 1 GiB takes 0.28 s, and more with
   many samples, a fork beside it some 20 ms (bench/heap). */
#define HOLDERSASK_HEAP	BOUND(UINT64_C(4) << 20, UINT64_C(64) << 10)

/* All zero: nothing was asked. */
typedef struct HoldersAsk {
  pid_t child;			/* 0: nothing was asked */
  pid_t parent;			/* who has asked */
  struct HoldersAnswer *answer;	/* shared memory */
  size_t size, n;
  uint64_t began, nanoseconds;	/* that the program has waited */
} HoldersAsk;

/* Nothing is asked. 0: there is no child or no memory. */
int holdersask_begin (HoldersAsk *a, lua_State *L, const void *const *owners, size_t n);

/* 1: the answer is in 'h' (holders_free); 0: not yet; -1: there will be none. Unless 0,
   nothing is asked any more. */
int holdersask_look (HoldersAsk *a, Holders *h);

/* The question is dropped. */
void holdersask_end (HoldersAsk *a);

#endif
