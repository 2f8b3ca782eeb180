/* SPDX-License-Identifier: MIT */
/*
** A state that the Lua module 'states' (../states.c) has opened: the counts of its allocator
** (allocator.c) and the functions for its chunks (inside.c).
*/
#ifndef states_h
#define states_h

#include <stddef.h>
#include <stdint.h>

#include <lua.h>
#include <lauxlib.h>

/* the value of 'limit' and 'largest' for "no limit"; even then larger requests are refused */
#define NOLIMIT		((size_t)1 << 31)
#define NEVER		UINT64_MAX
/* type tags of objects below 16 are counted separately */
#define INTAGS		16

typedef struct State {
  lua_State *L;
  size_t bytes, peak, limit, largest;
  size_t skew;			/* offset of each block from malloc's alignment, in bytes */
  uint64_t calls, requests, refused;
  /* 1 + number of calls of the lua_Alloc that 'replace' has set; 0: 'replace' was not called */
  uint64_t later;
  /*
  ** fail: number of the only request that fails. failall: number of the last request before all
  ** others fail. NEVER: no request fails.
  */
  uint64_t fail, failall;
  uint64_t tags[INTAGS];	/* number of requests for a new block, by the type tag of its object */
  char *scratch;		/* bytes of a long string or of a dumped chunk, in preparation */
  size_t nscratch;		/* number of bytes in 'scratch' */
  char wrong[120];		/* first violation of the rules of lua_Alloc; "": none */
} State;

/* lua_Alloc of a state; 'ud' is the State. */
void *states_allocate (void *ud, void *block, size_t osize, size_t nsize);

/* The function that replace() (inside.c) sets as lua_Alloc. */
void *states_later (void *ud, void *block, size_t osize, size_t nsize);

/* The functions in the table that the chunks of a state receive as their first argument. */
extern const luaL_Reg states_inside[];

#endif
