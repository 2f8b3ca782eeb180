/* SPDX-License-Identifier: MIT */
/* Children that the program does not notice (quietfork.h). */
#define _GNU_SOURCE
#include "quietfork.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Closes the descriptors 'first' to 'last'. Does nothing before Linux 5.9, which has no
   close_range. */
static void shut (unsigned first, unsigned last) {
#if defined(SYS_close_range)
  if (first <= last) syscall(SYS_close_range, first, last, 0u);
#else
  (void)first; (void)last;
#endif
}

/* Closes all descriptors from 3 on, except a and b; a <= b. */
static void shutothers (unsigned a, unsigned b) {
  unsigned from = 3;
  if (a >= from) {
    shut(from, a - 1);
    from = a + 1;
  }
  if (b >= from) {
    shut(from, b - 1);
    from = b + 1;
  }
  shut(from, ~0u);
}

/* Blocks the signals before the fork, so that no handler of the program runs in the child. */
pid_t quietfork (int keep, int also) {
  sigset_t all, before;
  pid_t child;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  child = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
  if (child == 0)
    shutothers((unsigned)(keep < also ? keep : also), (unsigned)(keep < also ? also : keep));
  else
    sigprocmask(SIG_SETMASK, &before, NULL);  /* preserves errno */
  return child;
}
