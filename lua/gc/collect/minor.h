/* SPDX-License-Identifier: MIT */
/* The minor collection. */
#pragma once

/* Runs a minor collection; calls no finalizers. If 'ageing' is 1, it may leave some live objects
   young (ageing.h), and luaN_aged must be called next. 'ageing' must be 0 while a major collection
   runs. */
LUAI_FUNC void luaN_minor (lua_State *L, int ageing);

/* To be called right after luaN_minor, which may have left some live objects young. If 'start' is
   0, adds the objects and slots that refer to these young objects to the remembered set, so that
   the next minor collection reaches them again. If 'start' is 1, because a major collection starts,
   tenures the young objects instead. */
LUAI_FUNC void luaN_aged (lua_State *L, int start);
