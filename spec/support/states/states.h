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

/* without a limit, requests of this size or more are still refused */
#define NOLIMIT		((size_t)1 << 31)
#define NEVER		UINT64_MAX
#define INTAGS		16	/* tags of objects below 16 are counted separately */

typedef struct State {
  lua_State *L;
  size_t bytes, peak, limit, largest;
  size_t skew;			/* offset of each block from malloc's alignment, in bytes */
  uint64_t calls, requests, refused;
  uint64_t later;		/* 1 + number of calls of the function set by 'replace'; 0: none is set */
  /* numbers of the request that fails, and after which all fail; NEVER: none */
  uint64_t fail, failall;
  uint64_t tags[INTAGS];	/* number of requests for a new block, by the type tag of its object */
  char *scratch;		/* bytes of a long string or of a dumped chunk, in preparation */
  size_t nscratch;		/* number of bytes in 'scratch' */
  char wrong[120];		/* first violation of the rules of lua_Alloc; "": none */
} State;

/* lua_Alloc of a state; 'ud' is the State. */
void *states_allocate (void *ud, void *block, size_t osize, size_t nsize);

/* The function that 'replace' (inside.c) sets as lua_Alloc. */
void *states_later (void *ud, void *block, size_t osize, size_t nsize);

/* The argument of the chunks of a state. */
extern const luaL_Reg states_inside[];

#endif
