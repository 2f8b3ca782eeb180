/* SPDX-License-Identifier: MIT */
/* The free memory of the system and of the process's control group. */
#ifndef asamp_memoryleft_h
#define asamp_memoryleft_h

#include <stdint.h>

/*
** Returns the number of bytes that the process can still use: the memory available in the system
** (MemAvailable), or the unused part of the limit of the process's control group (version 2),
** whichever is smaller. Limits of enclosing groups are not read. Returns UINT64_MAX if neither is
** known. Opens files of /proc and /sys, and allocates nothing.
*/
uint64_t memoryleft (void);

#endif
