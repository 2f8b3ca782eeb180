/* SPDX-License-Identifier: MIT */
/* What the bytecode loop calls inline. For lvm.c. */
#ifndef luaN_loop_h
#define luaN_loop_h

#include "calls.h"
#include "concat.h"
#include "stores.h"

#endif
