/* SPDX-License-Identifier: MIT */
/*
** Makes a child process that reads a copy of the program's memory without the program noticing it:
** the child's end sends no SIGCHLD, and of the wait functions only waitpid with __WALL finds the
** child. Handlers of pthread_atfork do not run. Another thread may have been inside malloc at the
** fork, so the child must not call malloc or another function that takes a lock.
*/
#ifndef asamp_quietfork_h
#define asamp_quietfork_h

#include <sys/types.h>

/*
** Like fork. In the child all signals are blocked, so that no handler of the program runs. All
** descriptors of the child except 0, 1, 2 and 'keep' are closed, if the kernel is 5.9 or newer.
** 'keep' 0: no other descriptor stays open.
*/
pid_t quietfork (int keep);

#endif
