/* SPDX-License-Identifier: MIT */
/* A minor collection. */
#ifndef luaN_minor_h
#define luaN_minor_h

LUAI_FUNC void luaN_minor (lua_State *L);

#endif
