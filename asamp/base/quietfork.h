/* SPDX-License-Identifier: MIT */
/*
** A child process that the program does not notice, for looking at its memory as it is
** now: without a signal to the parent at its end (SIGCHLD), and no child that wait()
** finds (wait with __WALL does). Handlers of pthread_atfork do not run: another thread may
** have been in the midst of malloc, so that the child must not call it, nor anything else
** that takes a lock.
*/
#ifndef asamp_quietfork_h
#define asamp_quietfork_h

#include <sys/types.h>

/* As fork. In the child all signals are blocked, so that no handler of the program runs,
   and all descriptors but 'keep' and those below 3 are closed. */
pid_t quietfork (int keep);

#endif
