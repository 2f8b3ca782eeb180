/* SPDX-License-Identifier: MIT */
/* Kinds of memory, and the two functions of nursery.c that resize and free vectors and explicit
   memory. */
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

/* Largest size in bytes that luaN_bump allocates of this kind, which is not explicit. */
#define luaN_mostbumped(kind) \
  (luaN_istextkind(kind) ? LUAN_LARGETEXT : LUAN_LARGE)

/* The kinds of memory that each source file of the core passes: LUAN_VECTOR from luaM_malloc_ and
   luaM_free_, LUAN_BUFFER from luaM_saferealloc_, LUAN_REALLOCED from the other functions of mem.h.
   Every file of the core defines a macro of its own name. */
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
** Changes the size of a vector or of explicit memory, like realloc: 'block' of osize bytes (NULL
** and 0 for a new one) to nsize bytes (0: frees it and returns NULL). A block in lines is shrunk in
** place; an array in lines is grown in place if that is possible (growsinplace of nursery.c). May
** run an emergency collection. Returns NULL, and leaves the block as it is, if there is no memory,
** or a limit of the state would be exceeded (allowance.h).
*/
LUAI_FUNC void *luaN_resize (lua_State *L, void *block, size_t osize,
                             size_t nsize, int kind);

/* Frees a vector or explicit memory of 'size' bytes (NULL and 0: does nothing); of a block in
   lines, only the lines that it fills completely (luaN_forget). Reports a watched block to the
   sampler. LUAN_VSTACK: L must be the thread that owns the block. */
LUAI_FUNC void luaN_release (lua_State *L, void *block, size_t size, int kind);

#endif
