/* SPDX-License-Identifier: MIT */
/* Kinds of memory, and functions that resize and free memory that is not an object: vectors of
   objects, buffers, vectors of prototypes. */
#pragma once

/* The kind of a block of memory: the variant tag (LUA_VTABLE …) for an object, else one of these
   constants.
   LUAN_VARRAY    array part of a table
   LUAN_VHASH     hash part of a table
   LUAN_VSTACK    first stack of a thread, or a CallInfo
   LUAN_VRESTACK  stack of a thread that replaces its previous stack
   LUAN_VPROTO    vector of a prototype
   LUAN_VBUFFER   other memory, such as a buffer */
enum luaN_Vector {
  LUAN_VARRAY = 0x80, LUAN_VHASH, LUAN_VSTACK, LUAN_VRESTACK, LUAN_VPROTO,
  LUAN_VBUFFER,
  LUAN_VOUTSIDE		/* not a block: external bytes, owned by a userdata */
};

/* True if the kind is that of long strings or userdata. */
#define luaN_istextkind(kind)	((kind) == LUA_VLNGSTR || (kind) == LUA_VUSERDATA)

/* Largest size in bytes of a block of this kind that the fast path allocates. Not for kinds whose
   memory always comes from lua_Alloc (luaN_isexplicit). */
#define luaN_mostbumped(kind) \
  (luaN_istextkind(kind) ? LUAN_LARGETEXT : LUAN_LARGE)

/*
** The kinds of memory that each source file allocates by the functions of lmem.h, which have no
** parameter for the kind. Each file defines a macro with its name: ltable.c defines ltable_c.
**
**   LUAN_VECTOR     for luaM_malloc_ and luaM_free_
**   LUAN_BUFFER     for luaM_saferealloc_
**   LUAN_REALLOCED  for luaM_realloc_, luaM_growaux_ and luaM_shrinkvector_
*/
#if defined(ltable_c)
/* Kind of the blocks that ltable.c allocates by luaM_malloc_: hash parts. */
#define LUAN_VECTOR	LUAN_VHASH
/* Kind of the blocks that ltable.c resizes by luaM_realloc_: array parts. */
#define LUAN_REALLOCED	LUAN_VARRAY
#elif defined(lstate_c)
#define LUAN_VECTOR	LUAN_VSTACK
#elif defined(ldo_c)
/* Kind of the blocks that ldo.c frees by luaM_free_: vectors of the parser. */
#define LUAN_VECTOR	LUAN_VPROTO
/* Kind of the blocks that ldo.c resizes by luaM_realloc_: stacks. */
#define LUAN_REALLOCED	LUAN_VRESTACK
/* Kind of the block that ldo.c frees by luaM_saferealloc_: the buffer of the scanner. */
#define LUAN_BUFFER	LUAN_VBUFFER
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
** Resizes memory that is not an object (a vector or buffer; 'kind' is one of enum luaN_Vector) from
** osize to nsize bytes, like realloc, and in place if possible. block: NULL for a new block, with
** osize 0. If nsize is 0, frees the block and returns NULL.
**
** May run an emergency collection. Returns NULL, and keeps the block, if there is no memory or a
** limit would be exceeded.
*/
LUAI_FUNC void *luaN_resize (lua_State *L, void *block, size_t osize, size_t nsize, int kind);

/* Frees memory of 'size' bytes that is not an object (a vector or buffer; 'kind' is one of enum
   luaN_Vector). If the memory is in lines of the heap, frees only lines that the memory fills
   completely. For LUAN_VSTACK, L must be the thread that owns the memory. Does nothing if 'block'
   is NULL. */
LUAI_FUNC void luaN_release (lua_State *L, void *block, size_t size, int kind);
