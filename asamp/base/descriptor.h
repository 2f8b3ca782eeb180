/* SPDX-License-Identifier: MIT */
/*
** Opens files with descriptors other than 0, 1 and 2.
**
** A program may run with its standard streams closed. The next file that its process opens
** receives the number of a closed stream, and the program's output would be written into that
** file. So the profiler reserves these numbers while it opens one of its files, or calls a library
** that opens files.
**
** A number is reserved by an O_PATH descriptor, for which read and write fail with EBADF, as for
** a closed number: the program's own output fails as before. Invariants:
**
**   DE1  only unused numbers are reserved; the last descriptor_release frees all of them;
**   DE2  exec closes every descriptor that is opened here.
**
** The functions are thread-safe. Only descriptor_write is async-signal-safe.
*/
#ifndef asamp_descriptor_h
#define asamp_descriptor_h

#include <sys/types.h>

/*
** descriptor_hold reserves the numbers of closed standard streams: no new descriptor is 0, 1 or 2,
** unless a thread of the program closes one of these. Calls can be nested; the numbers are reserved
** until descriptor_release was called as often. Both preserve errno.
*/
void descriptor_hold (void);
void descriptor_release (void);

/* Like open(2) with O_CLOEXEC, but the descriptor is never 0, 1 or 2. */
int descriptor_open (const char *path, int flags, mode_t mode);

/* Like openat(2) with O_CLOEXEC, but the descriptor is never 0, 1 or 2. */
int descriptor_openat (int folder, const char *path, int flags, mode_t mode);

/*
** descriptor_spare returns 1 if the program will have at least DESCRIPTOR_SPARE free descriptors
** after the caller has opened 'more' others (at most DESCRIPTOR_MORE) in addition to 'fd'. It opens
** and closes copies of 'fd' to find out. Call it before keeping 'fd': a program without free
** descriptors fails without a useful message. If the result is 0, close 'fd'; descriptor_few writes
** the message for the user into 'why', a buffer of 'size' bytes.
*/
#define DESCRIPTOR_SPARE	6
#define DESCRIPTOR_MORE		5
int descriptor_spare (int fd, int more);
void descriptor_few (char *why, size_t size);

/* Writes all n bytes, in several writes if necessary. Returns 0 on success, or an errno on failure.
   After a failure, some of the bytes may have been written. */
int descriptor_write (int fd, const void *data, size_t n);

#endif
