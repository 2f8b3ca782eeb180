/* SPDX-License-Identifier: MIT */
/* The memory that the system, and the control group of the process, have left. */
#ifndef asamp_memoryleft_h
#define asamp_memoryleft_h

#include <stdint.h>

/*
** Returns the smaller of two numbers of bytes: the memory available in the system (MemAvailable),
** and the part of its limit that the process's control group (version 2) does not use. Limits of
** enclosing groups are not read. Returns UINT64_MAX if neither is known. Opens files of /proc and
** /sys, and allocates nothing.
*/
uint64_t memoryleft (void);

#endif
