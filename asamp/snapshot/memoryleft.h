/* SPDX-License-Identifier: MIT */
/* The free memory of the system, and of the process's control group. */
#ifndef asamp_memoryleft_h
#define asamp_memoryleft_h

#include <stdint.h>

/*
** Returns the smaller of the two, in bytes; UINT64_MAX if neither is known. Opens files of /proc
** and /sys, and allocates nothing.
*/
uint64_t memoryleft (void);

#endif
