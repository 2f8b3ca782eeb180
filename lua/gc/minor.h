/* SPDX-License-Identifier: MIT */
/* A minor collection. */
#ifndef luaN_minor_h
#define luaN_minor_h

/* 'ageing': texts may stay young (ageing.h), as no major collection runs or begins behind it. */
LUAI_FUNC void luaN_minor (lua_State *L, int ageing);

/* Behind it: 'begin', a major collection begins now. */
LUAI_FUNC void luaN_aged (lua_State *L, int begin);

#endif
