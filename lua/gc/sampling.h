/* SPDX-License-Identifier: MIT */
/*
** What the sampler is asked and told (seam.h), off the fast path.
*/
#ifndef luaN_sampling_h
#define luaN_sampling_h

/*
** Counts a block at p of n bytes, of which 'old' do not count, and takes the sample
** when the point is reached. 'd' was the distance before it; 'outside': it went past
** the nursery. The limit is to be set afterwards.
*/
LUAI_FUNC void luaN_countblock (lua_State *L, char *p, uint64_t n, size_t old,
                                int what, int outside, uint64_t d);

/* A block is freed by hand while the sampler watches some: is it one of these? */
LUAI_FUNC void luaN_tellfree (lua_State *L, const void *block)
    __attribute__((noinline));

/* One of 'before' bytes at 'from' has been resized by hand. */
LUAI_FUNC void luaN_tellresized (lua_State *L, const void *from, const void *to,
                                 uint64_t before, uint64_t after)
    __attribute__((noinline));

/* The running stack has been moved: takes the sample that had to wait for it (S2). */
LUAI_FUNC void luaN_takewaiting (lua_State *L);

/* Every collection calls this when it knows what is dead. */
LUAI_FUNC void luaN_atomic (lua_State *L, int major);

/* u stands for n bytes outside of the heap that samples have not counted yet. */
LUAI_FUNC void luaN_countoutside (lua_State *L, Udata *u, uint64_t n);

/* The sampler is told that u stands for nothing any more. */
LUAI_FUNC void luaN_tookback (lua_State *L, Udata *u);

#endif
