/* SPDX-License-Identifier: MIT */
/*
** Opens files with descriptors other than 0, 1 and 2. If a program runs with closed standard
** streams, the next opened file would receive such a number, and the program's output would be
** written to that file. So the profiler reserves these numbers while it opens files. It reserves
** them with O_PATH descriptors, to which writes fail as to closed descriptors.
**
**   DE1  only unused numbers are reserved, until the last descriptor_release;
**   DE2  exec closes every descriptor that these functions open.
**
** Thread-safe. Only descriptor_write, descriptor_block and descriptor_unblock are
** async-signal-safe.
*/
#ifndef asamp_descriptor_h
#define asamp_descriptor_h

#include <signal.h>
#include <sys/types.h>

/* Reserves the numbers of closed standard streams. May be nested. Preserves errno. */
void descriptor_hold (void);
/* Ends one descriptor_hold. Preserves errno. */
void descriptor_release (void);

/* Like open(2) with O_CLOEXEC, but never returns 0, 1 or 2. */
int descriptor_open (const char *path, int flags, mode_t mode);

/* Like openat(2) with O_CLOEXEC, but never returns 0, 1 or 2. */
int descriptor_openat (int folder, const char *path, int flags, mode_t mode);

/* Reads up to size - 1 bytes from the start of a file, and stores them in 'to' with a NUL. Returns
   their number; 0: the file is empty or unreadable. */
size_t descriptor_text (const char *path, char *to, size_t size);

/* Returns 1 if the program can open at least DESCRIPTOR_SPARE + 'more' further descriptors, or if a
   filter of system calls prevents the test. The test makes copies of 'fd' and closes them. 'more'
   is at most DESCRIPTOR_MORE. If the result is 0, the caller must close 'fd', because the program
   may need the last descriptors. */
#define DESCRIPTOR_SPARE	6
#define DESCRIPTOR_MORE		5
int descriptor_spare (int fd, int more);
/* Writes to 'why' that too few descriptors are left (descriptor_spare), and what to do. */
void descriptor_few (char *why, size_t size);

/* The signal state of a thread between descriptor_block and descriptor_unblock.
   ours    set of the signals SIGPIPE and SIGXFSZ, without one that was pending before
           descriptor_block
   before  the thread's signal mask before descriptor_block */
typedef struct DescriptorSignals {
  sigset_t ours, before;
} DescriptorSignals;

/* Blocks SIGPIPE and SIGXFSZ on this thread, so that the profiler's writes to a pipe that nobody
   reads, or above the limit of file sizes, do not end the program. */
void descriptor_block (DescriptorSignals *s);
/* Discards a SIGPIPE and a SIGXFSZ that have become pending since descriptor_block. Then restores
   the signal mask. */
void descriptor_unblock (const DescriptorSignals *s);

/* Writes all n bytes. Returns 0 on success. On failure returns an errno; some of the bytes may have
   been written. */
int descriptor_write (int fd, const void *data, size_t n);

#endif
