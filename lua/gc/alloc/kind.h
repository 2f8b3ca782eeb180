/* SPDX-License-Identifier: MIT */
/* Kinds of memory, and the two functions of nursery.c that resize and free memory that is not an
   object. */
#ifndef luaN_kind_h
#define luaN_kind_h

/* The kind of a block of memory is the variant tag of its object (LUA_VTABLE …), or one of these
   constants, which equal no tag. The sampler receives the kind as a luaN_Kind. */
enum luaN_Vector {
  LUAN_VARRAY = 0x80, LUAN_VHASH, LUAN_VSTACK, LUAN_VRESTACK, LUAN_VPROTO,
  LUAN_VBUFFER,
  LUAN_VOUTSIDE		/* not a block: external bytes of a userdata */
};

/* True if the kind is a long string or a userdata. */
#define luaN_istextkind(kind)	((kind) == LUA_VLNGSTR || (kind) == LUA_VUSERDATA)

/* Largest size in bytes of a block of this kind that is bump-allocated. */
#define luaN_mostbumped(kind) \
  (luaN_istextkind(kind) ? LUAN_LARGETEXT : LUAN_LARGE)

/* The kinds of memory that each source file of the core allocates, by the functions of mem.h that
   it calls. Every file of the core defines a macro of its own name. */
#if defined(ltable_c)
#define LUAN_VECTOR	LUAN_VHASH	/* luaM_realloc_ uses LUAN_VARRAY */
#define LUAN_REALLOCED	LUAN_VARRAY
#elif defined(lstate_c)
#define LUAN_VECTOR	LUAN_VSTACK
#elif defined(ldo_c)
#define LUAN_VECTOR	LUAN_VPROTO	/* ldo.c frees vectors of the parser */
#define LUAN_REALLOCED	LUAN_VRESTACK	/* the sample of a moved stack is postponed */
#define LUAN_BUFFER	LUAN_VBUFFER	/* ldo.c frees the buffer of the scanner */
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
** Changes the size of a block, as realloc: 'block' of osize bytes (NULL and 0 for a new one) to
** nsize bytes (0: frees it and returns NULL). A block in lines is shrunk in place; an array in
** lines is grown in place if it ends where the unused part of the current hole, or of the overflow
** region, starts and that part is long enough. Returns NULL and leaves the block as it is if there
** is no memory after an emergency collection.
*/
LUAI_FUNC void *luaN_resize (lua_State *L, void *block, size_t osize,
                             size_t nsize, int kind);

/* Frees a block of this kind and of 'size' bytes that is not an object; of a block in lines, only
   the lines that it fills completely. Reports a watched block to the sampler. */
LUAI_FUNC void luaN_release (lua_State *L, void *block, size_t size, int kind);

#endif
