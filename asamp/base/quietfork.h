/* SPDX-License-Identifier: MIT */
/*
** Makes a child process with a copy of the program's memory, which the program does not notice: its
** end sends no SIGCHLD, and only waitpid with __WALL finds it. Handlers of pthread_atfork do not
** run. The child must not call malloc or another function that takes a lock: another thread may
** have held the lock at the fork.
*/
#ifndef asamp_quietfork_h
#define asamp_quietfork_h

#include <sys/types.h>

/* Like fork, but in the child all signals are blocked, so that no handler of the program runs, and
   its descriptors except 0, 1, 2 and 'keep' (0: none) are closed, if the kernel is 5.9 or newer. */
pid_t quietfork (int keep, int also);

#endif
