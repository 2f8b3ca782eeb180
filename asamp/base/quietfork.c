/* SPDX-License-Identifier: MIT */
/* Children that the program does not notice (quietfork.h). */
#define _GNU_SOURCE
#include "quietfork.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
** Closes the descriptors from 'first' to 'last'. Kernels before 5.9 do not have the system call; on
** these the child keeps the descriptors open until it ends.
*/
static void shut (unsigned first, unsigned last) {
#if defined(SYS_close_range)
  if (first <= last)
    syscall(SYS_close_range, first, last, 0u);
#else
  (void)first; (void)last;
#endif
}

pid_t quietfork (int keep) {
  pid_t child = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
  sigset_t all;
  if (child != 0)
    return child;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  if (keep < 3)
    shut(3, ~0u);
  else {
    if (keep > 3)
      shut(3, (unsigned)keep - 1);
    shut((unsigned)keep + 1, ~0u);
  }
  return 0;
}
