/* SPDX-License-Identifier: MIT */
/* Names of the kinds of blocks (sample.h). */
#include "sample.h"

const char *profile_kindname (int kind) {
  static const char *const names[KIND_COUNT] = {
    "table", "table array part", "table hash part", "string",
    "Lua closure", "C closure", "upvalue", "userdata",
    "coroutine", "stack", "proto", "buffer", "outside",
    "native"
  };
  return names[kind];
}
