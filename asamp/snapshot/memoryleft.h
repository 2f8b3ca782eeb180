/* SPDX-License-Identifier: MIT */
/* The free memory of the system and of the process's control group. */
#ifndef asamp_memoryleft_h
#define asamp_memoryleft_h

#include <stdint.h>

/* Returns the number of bytes that the process can still use: MemAvailable of /proc/meminfo or, if
   less, the unused part of the limit of the process's control group (version 2). Returns UINT64_MAX
   if both are unknown. Allocates nothing. */
uint64_t memoryleft (void);

#endif
