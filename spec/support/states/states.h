/* SPDX-License-Identifier: MIT */
/*
** A state of the module 'states' (../states.c): the counts of its allocator
** (allocator.c) and the functions for its chunks and the specs (inside.c, ../states.c).
*/
#ifndef states_h
#define states_h

#include <stddef.h>
#include <stdint.h>

#include <lua.h>
#include <lauxlib.h>

#define NOLIMIT		((size_t)1 << 31)	/* smallest request that is refused without a limit */
#define NEVER		UINT64_MAX
#define INTAGS		16	/* largest tag of an object that is distinguished */

typedef struct State {
  lua_State *L;
  size_t bytes, peak, limit, largest;
  size_t skew;			/* offset of each block from malloc's alignment */
  uint64_t calls, requests, refused;
  uint64_t later;		/* 1 + calls of the function set by 'replace'; 0: not set */
  uint64_t fail, failall;	/* numbers of requests; NEVER: off */
  uint64_t tags[INTAGS];	/* requests for a new block by its kind of object */
  char *scratch;		/* bytes of a string or of a dumped chunk */
  size_t nscratch;		/* of the latter */
  char wrong[120];		/* the first violation of the rules; "": none */
} State;

/* lua_Alloc of a state; 'ud' is the State. */
void *states_allocate (void *ud, void *block, size_t osize, size_t nsize);

/* The function that 'replace' (inside.c) sets as lua_Alloc. */
void *states_later (void *ud, void *block, size_t osize, size_t nsize);

/* The argument of the chunks of a state. */
extern const luaL_Reg states_inside[];

#endif
