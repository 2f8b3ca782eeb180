/* SPDX-License-Identifier: MIT */
/* Inline functions of the bytecode loop. For lvm.c. */
#ifndef luaN_loop_h
#define luaN_loop_h

#include "calls.h"
#include "concat.h"
#include "stores.h"

#endif
