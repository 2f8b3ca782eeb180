/* SPDX-License-Identifier: MIT */
/* The memory that the system, or the process's control group, has left. */
#ifndef asamp_memoryleft_h
#define asamp_memoryleft_h

#include <stdint.h>

/*
** Returns the smaller of both in bytes; UINT64_MAX if neither is known. Opens files of /proc and
** /sys, and allocates nothing.
*/
uint64_t memoryleft (void);

#endif
