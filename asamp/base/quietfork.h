/* SPDX-License-Identifier: MIT */
/*
** Makes a child process with a copy of the program's memory, which the program does not notice: the
** child's end sends no SIGCHLD, and of the wait functions only waitpid with __WALL finds the child.
** Handlers of pthread_atfork do not run. Another thread may have been inside malloc at the fork, so
** the child must not call malloc or another function that takes a lock.
*/
#ifndef asamp_quietfork_h
#define asamp_quietfork_h

#include <sys/types.h>

/*
** Like fork, with two differences. In the child all signals are blocked, so that no handler of the
** program runs. The child's descriptors except 0, 1, 2, 'keep' and 'also' are closed, if the kernel
** is 5.9 or newer. 0 for 'keep' or 'also': no other descriptor stays open.
*/
pid_t quietfork (int keep, int also);

#endif
