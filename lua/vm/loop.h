/* SPDX-License-Identifier: MIT */
/* Inline functions of the bytecode loop. For lvm.c. */
#pragma once

#include "calls.h"
#include "concat.h"
#include "stores.h"
