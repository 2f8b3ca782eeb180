/* SPDX-License-Identifier: MIT */
/*
** The control socket and the connections to it (rules CN1, CN2, CN4, CN5 and CN7 of control.h). The
** descriptors opened here are recorded with the identity of their files. So the child of a fork can
** close all of them, and a descriptor whose number the program has reused for another file is
** recognized. Functions with a descriptor as parameter are thread-safe.
*/
#ifndef asamp_server_h
#define asamp_server_h

#include <stddef.h>

#define SERVER_CLIENTS	64	/* largest number of connections of server_accept that the caller
				   keeps open at a time */

/*
** Removes the sockets that ended processes of this user have left in the folder of 'path', which is
** the default path. Their names are NUMBER.sock. For example, a process that has changed its user
** cannot remove its own socket.
*/
void server_sweep (const char *path);

/*
** Creates the socket at 'path' and listens there. Creates the folder if it is missing; it must
** belong to this user (CN1). Replaces only a socket at which no process listens (CN4). Returns the
** descriptor, or -1 with the reason in 'why' (a buffer of 'size' bytes); errno is EMFILE if too few
** descriptors are left, another value for any other reason.
*/
int server_open (const char *path, char *why, size_t size);

/*
** Removes the file at 'path' if it is the socket that this process created last. Async-signal-safe.
*/
void server_unlink (const char *path);

/*
** Accepts a connection without waiting. Returns its descriptor. Returns -1 if there is no
** connection, no descriptor is left, or the client is neither of this user nor of root (CN2).
*/
int server_accept (int server);

/*
** Returns 1 if 'fd' is still a descriptor that server_open or server_accept has returned. The
** program may have closed it and reused its number (CN7).
*/
int server_has (int fd);

/* Closes 'fd' if server_has returns 1 for it, and removes it from the records. */
void server_close (int fd);

/*
** Handlers for pthread_atfork, in this order: before the fork; after it in the parent; after it in
** the child. The last one closes all recorded descriptors, so that clients notice when the parent
** disconnects them (CN5).
*/
void server_forking (void);
void server_parted (void);
void server_forked (void);

#endif
