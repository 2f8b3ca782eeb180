/* SPDX-License-Identifier: MIT */
/*
** Makes a child process that the program does not notice, to read a copy of its memory: no
** SIGCHLD at its end, and wait() does not find it (wait with __WALL does). Handlers of
** pthread_atfork do not run. Another thread may have been inside malloc, so the child must not
** call malloc or anything else that takes a lock.
*/
#ifndef asamp_quietfork_h
#define asamp_quietfork_h

#include <sys/types.h>

/*
** Like fork. In the child all signals are blocked, so that no handler of the program runs, and
** all descriptors except 'keep' and those below 3 are closed.
*/
pid_t quietfork (int keep);

#endif
