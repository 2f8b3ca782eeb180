/* SPDX-License-Identifier: MIT */
/* Limits on the memory that a call may use: profiler.limit, by luaN_setlimits. */
#ifndef asamp_limiting_h
#define asamp_limiting_h

#include "binding.h"

/* Puts the function 'limit' into the table on the top of the stack. Allocates. */
void limiting_open (lua_State *L);

#endif
