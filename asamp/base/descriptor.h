/* SPDX-License-Identifier: MIT */
/*
** Opens files with descriptors other than 0, 1 and 2.
**
** A program may run with its standard streams closed. The next file that its process opens
** receives such a number, and the program's output would be written into it. So every file is
** opened while these numbers are reserved, and so are the files that libraries open for the
** profiler.
**
** A number is reserved with an O_PATH descriptor, for which read and write fail with EBADF, as
** for a closed number: between hold and release, the program's own output fails as before.
** Invariants:
**
**   DE1  only unused numbers are reserved, and all are closed when the last holder releases;
**   DE2  descriptors that are opened are closed by exec.
**
** The functions are thread-safe, but not async-signal-safe.
*/
#ifndef asamp_descriptor_h
#define asamp_descriptor_h

#include <sys/types.h>

/*
** Reserve the numbers of closed standard streams until as many releases as holds: no new
** descriptor is 0, 1 or 2 meanwhile (unless a thread of the program closes one of them). They
** preserve errno.
*/
void descriptor_hold (void);
void descriptor_release (void);

/* Like open(2), closed by exec, never 0 to 2. */
int descriptor_open (const char *path, int flags, mode_t mode);

/* Like openat(2), with the same properties. */
int descriptor_openat (int folder, const char *path, int flags, mode_t mode);

/*
** descriptor_spare returns 1 if there are DESCRIPTOR_SPARE descriptors in addition to 'fd',
** which is open, and 'more' (up to DESCRIPTOR_MORE) that the caller will keep. The program and
** libraries need some, and fail without a useful message: so a caller that keeps a descriptor
** checks this, and closes it on 0. descriptor_few writes the message for that case.
*/
#define DESCRIPTOR_SPARE	6
#define DESCRIPTOR_MORE		5
int descriptor_spare (int fd, int more);
void descriptor_few (char *why, size_t size);

/* Writes all n bytes, in several writes if necessary. Returns 0 or an errno. */
int descriptor_write (int fd, const void *data, size_t n);

#endif
