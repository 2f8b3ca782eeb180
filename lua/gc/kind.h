/* SPDX-License-Identifier: MIT */
/*
** What a block of memory is, and the two functions (of nursery.c) for those that are
** no objects.
*/
#ifndef luaN_kind_h
#define luaN_kind_h

/*
** For the sampler: the variant tag of an object
** (LUA_VTABLE ...) or one of these, which no object's tag equals.
*/
enum luaN_Vector {
  LUAN_VARRAY = 0x80, LUAN_VHASH, LUAN_VSTACK, LUAN_VRESTACK, LUAN_VPROTO,
  LUAN_VBUFFER,
  LUAN_VOUTSIDE		/* no block: bytes that a userdata stands for */
};

/* Is it a long string or a userdata? */
#define luaN_istextkind(what)	((what) == LUA_VLNGSTR || (what) == LUA_VUSERDATA)

/* Most bytes of a block of that kind that is bumped and forgotten. */
#define luaN_mostbumped(what) \
  (luaN_istextkind(what) ? LUAN_LARGETEXT : LUAN_LARGE)

/*
** Memory that is not an object is told apart by the file that asks for it:
** every source file of the core defines its own name.
*/
#if defined(ltable_c)
#define LUAN_VECTOR	LUAN_VHASH	/* luaM_realloc_ says LUAN_VARRAY */
#define LUAN_REALLOCED	LUAN_VARRAY
#elif defined(lstate_c)
#define LUAN_VECTOR	LUAN_VSTACK
#elif defined(ldo_c)
#define LUAN_VECTOR	LUAN_VPROTO	/* frees the parser's */
#define LUAN_REALLOCED	LUAN_VRESTACK	/* while it is moved, nobody can walk it */
#define LUAN_BUFFER	LUAN_VBUFFER	/* frees the scanner's */
#elif defined(lfunc_c) || defined(lparser_c) || defined(lcode_c) || \
      defined(lundump_c) || defined(ldebug_c)
#define LUAN_VECTOR	LUAN_VPROTO
#else
#define LUAN_VECTOR	LUAN_VBUFFER
#endif
#if !defined(LUAN_REALLOCED)
#define LUAN_REALLOCED	LUAN_VECTOR
#endif
#if !defined(LUAN_BUFFER)
#define LUAN_BUFFER	LUAN_REALLOCED
#endif

/*
** As realloc: 'block' of osize bytes (NULL and 0: none) to nsize bytes (0:
** freed, NULL returned). Shrinks in place within the heap, where an array may grow so.
** NULL and the old block unharmed when there is no memory after an emergency collection.
*/
LUAI_FUNC void *luaN_resize (lua_State *L, void *block, size_t osize,
                             size_t nsize, int what);

/*
** A block of any size that is not an object is garbage: frees it (in lines, the
** lines that it fills). Tells the sampler when it watches.
*/
LUAI_FUNC void luaN_release (lua_State *L, void *block, size_t size, int what);

#endif
