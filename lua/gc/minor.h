/* SPDX-License-Identifier: MIT */
/* A minor collection. */
#ifndef luaN_minor_h
#define luaN_minor_h

/* 'ageing': texts may stay young (ageing.h), as no major collection runs or begins behind it. */
LUAI_FUNC void luaN_minor (lua_State *L, int ageing);

#endif
