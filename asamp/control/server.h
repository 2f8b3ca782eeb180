/* SPDX-License-Identifier: MIT */
/* The control socket and its connections (rules of control.h). Each open descriptor is recorded
   with the device and inode of its file. With this record, a forked child finds the descriptors to
   close (CN5), and a descriptor that now belongs to another file is not used (CN7). Functions that
   take a descriptor are thread-safe. */
#ifndef asamp_server_h
#define asamp_server_h

#include <stddef.h>

#define SERVER_CLIENTS	64	/* largest number of open connections */

/* Removes from the folder of 'path' the sockets NUMBER.sock of this user's ended processes. */
void server_sweep (const char *path);

/* Creates the socket and listens. Checks the socket's folder; removes a socket without a listener.
   'create' 1: also creates the socket's folder if it is missing. Returns the descriptor, or -1 with
   the reason in 'why'; errno is EMFILE if too few descriptors are left. */
int server_open (const char *path, int create, char *why, size_t size);

/* Removes the file if it is the socket that this process made last. Async-signal-safe. */
void server_unlink (const char *path);

/* Accepts a connection without waiting. Returns -1 if there is no connection or no free descriptor,
   or if the client runs neither as this user nor as root. */
int server_accept (int server);

/* Returns 1 if 'fd' is in the list of descriptors and refers to the file for which it was added. */
int server_has (int fd);

/* Closes 'fd' if server_has(fd) is 1, and removes it from the list of descriptors. */
void server_close (int fd);

/* pthread_atfork handler before the fork: takes the lock of the list of descriptors. */
void server_forking (void);
/* pthread_atfork handler in the parent: releases the lock of the list of descriptors. */
void server_parted (void);
/* pthread_atfork handler in the child: closes all descriptors in the list, which are copies of the
   parent's. */
void server_forked (void);

#endif
