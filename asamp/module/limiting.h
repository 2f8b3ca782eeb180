/* SPDX-License-Identifier: MIT */
/* profiler.limit: limits the memory that a call may use. */
#ifndef asamp_limiting_h
#define asamp_limiting_h

#include "binding.h"

/* Adds the function 'limit' to the table on top of the stack. */
void limiting_open (lua_State *L);

#endif
