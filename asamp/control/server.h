/* SPDX-License-Identifier: MIT */
/*
** The control socket and the connections to it (rules CN1, CN2, CN4 and CN5 of control.h). All
** descriptors opened here are recorded, so that the child of a fork can close them.
*/
#ifndef asamp_server_h
#define asamp_server_h

#include <stddef.h>

#define SERVER_CLIENTS	64	/* the maximal number of connections of server_accept that are
				   open at a time */

/*
** Removes the sockets of ended processes of this user from the folder of the default path
** 'path'. (A process that has changed its user could not remove its own socket.)
*/
void server_sweep (const char *path);

/*
** Creates the socket at 'path' and listens there. Returns its descriptor, or -1 with the reason
** in 'why' (a buffer of 'size' bytes).
*/
int server_open (const char *path, char *why, size_t size);

/*
** Accepts a connection without waiting. Returns its descriptor, or -1 if there is none or the
** client is neither this user nor root.
*/
int server_accept (int server);

/*
** Returns 1 if 'fd' is still a descriptor that server_open or server_accept has returned (CN7).
*/
int server_has (int fd);

/* Closes 'fd' if it is still such a descriptor, and removes it from the records. */
void server_close (int fd);

/*
** The handlers of a fork: before it, after it in the parent, and after it in the child, which
** closes all recorded descriptors.
*/
void server_forking (void);
void server_parted (void);
void server_forked (void);

#endif
