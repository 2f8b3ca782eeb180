/* SPDX-License-Identifier: MIT */
/*
** The socket at which a process listens, and who has connected to it: CN1, CN2, CN4 and CN5
** of control.h. What is opened here is known to a fork, so that its child closes it.
*/
#ifndef asamp_server_h
#define asamp_server_h

#include <stddef.h>

#define SERVER_CLIENTS	64	/* most descriptors of server_accept at a time */

/* Removes the sockets of ended processes of this user from the folder of 'path', the default one: a
   process that has become another user could not remove its own. */
void server_sweep (const char *path);

/* The socket at 'path'; -1: 'why' is why there is none. */
int server_open (const char *path, char *why, size_t size);

/* Who has connected to it, if it is this user or root; -1: nobody. */
int server_accept (int server);

/* Is it still what one of them has returned (CN7)? */
int server_has (int fd);

/* Closes that, if it still is, and forgets it. */
void server_close (int fd);

/* Around a fork, the last in its child. */
void server_forking (void);
void server_parted (void);
void server_forked (void);

#endif
