/* SPDX-License-Identifier: MIT */
/* Forks a child that the program does not notice: its end sends no SIGCHLD, only waitpid with
   __WALL finds it, and pthread_atfork handlers do not run. The child must not call malloc or
   take locks, because another thread may have held them during the fork. */
#ifndef asamp_quietfork_h
#define asamp_quietfork_h

#include <sys/types.h>

/* Like fork. In the child all signals are blocked. From Linux 5.9 on, all descriptors of the child
   are closed, except 0, 1, 2, 'keep' and 'also'. */
pid_t quietfork (int keep, int also);

#endif
