/* SPDX-License-Identifier: MIT */
/*
** Descriptors that are never 0, 1 or 2.
**
** A program may run with its standard streams closed. The next file that its
** process opens gets such a number, and what the program prints would be
** written into it. So every file is opened while these numbers are held, and
** so are those that libraries open in our name.
**
** A number is held by a descriptor of O_PATH, for which read and write fail
** with EBADF, as they do for a number that is free: between hold and release
** the program's own prints fail as they did. Invariants:
**   DE1  only numbers that were free are held, and nothing of them is left when
**        the last holder has released;
**   DE2  what is opened is closed by exec.
** Any thread may call these functions; no signal handler may.
*/
#ifndef asamp_descriptor_h
#define asamp_descriptor_h

#include <sys/types.h>

/*
** Until as many releases as holds, no descriptor that is made is 0, 1 or 2 (but
** where a thread of the program closes one of them meanwhile). errno stays.
*/
void descriptor_hold (void);
void descriptor_release (void);

/* As open(2), closed by exec, never 0 to 2. */
int descriptor_open (const char *path, int flags, mode_t mode);

/* As openat(2), likewise. */
int descriptor_openat (int folder, const char *path, int flags, mode_t mode);

/* Are there DESCRIPTOR_SPARE descriptors besides this one, which is open, and 'more' (up to
   DESCRIPTOR_MORE) that the caller will keep? The program needs some, and libraries, which
   fail without a word, or with one that explains nothing: who keeps a descriptor asks, and
   closes it if not. And what to say then. */
#define DESCRIPTOR_SPARE	6
#define DESCRIPTOR_MORE		5
int descriptor_spare (int fd, int more);
void descriptor_few (char *why, size_t size);

/* Writes all n bytes, however little a single write takes. 0, or an errno. */
int descriptor_write (int fd, const void *data, size_t n);

#endif
