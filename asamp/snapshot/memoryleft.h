/* SPDX-License-Identifier: MIT */
/* The free memory of the system and of the process's control group. */
#ifndef asamp_memoryleft_h
#define asamp_memoryleft_h

#include <stdint.h>

/* Returns the bytes that the process can still use: MemAvailable or, if less, the rest of its
   control group's limit (version 2). Returns UINT64_MAX if unknown. Allocates nothing. */
uint64_t memoryleft (void);

#endif
