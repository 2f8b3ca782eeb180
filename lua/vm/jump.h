/* SPDX-License-Identifier: MIT */
/*
** Error handling and yields jump by the compiler's own setjmp, which saves three
** words and calls nothing: coroutines jump at every yield, and pcall sets a
** buffer at every call. For ldo.c, where the buffer is set and used in different
** functions, as the compiler demands. AddressSanitizer must see the jumps.
*/
#ifndef luaN_jump_h
#define luaN_jump_h

#if defined(ldo_c) && defined(__GNUC__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__)
typedef void *luaN_JumpBuffer[5];
#define luai_jmpbuf	luaN_JumpBuffer
#define LUAI_THROW(L,c)	__builtin_longjmp((c)->b, 1)
#define LUAI_TRY(L,c,a)	if (__builtin_setjmp((c)->b) == 0) { a }
#endif

#endif
