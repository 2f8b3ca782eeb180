/* SPDX-License-Identifier: MIT */
/* The free memory of the system and of the process's control group. */
#ifndef asamp_memoryleft_h
#define asamp_memoryleft_h

#include <stdint.h>

/*
** Returns the number of bytes that the process can still use: the memory available in the system
** (MemAvailable) or, if smaller, the unused part of the limit of its control group (version 2),
** without enclosing groups. Returns UINT64_MAX if neither is known. Opens files of /proc and /sys,
** and allocates nothing.
*/
uint64_t memoryleft (void);

#endif
