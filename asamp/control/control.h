/* SPDX-License-Identifier: MIT */
/*
** This folder has the control thread of a process. The thread answers requests at a Unix socket
** (asamp stat, asamp record, ...) while the program runs, and continues the profile in another file
** when the file is too large or too old. It runs no Lua code: a snapshot is taken by the Lua
** state's own thread, at the end of the state's next collection (sampler_request).
**
** Data: the options and the socket's path (this file), the recorded descriptors (server.h), the
** clients (clients.h) with their requests (requests.h, heaprequest.h), the end of the recording
** (requests.h), the files that may be removed (keptfiles.h). While the control thread runs, no
** other thread changes these data, except the descriptors, which have a lock, and heap requests
** (HK1).
**
** The thread exists only if an option requires it: the socket, 'rotate' or 'most'. With a socket or
** 'most' it wakes up at least once a second. Rules:
**   CN1  the socket's mode is 0600. Its folder must belong to this user (the effective user of the
**        process), and nobody else may be able to write there. A missing folder is created with
**        mode 0700;
**   CN2  a client must be of this user or of root (SO_PEERCRED), otherwise it is disconnected
**        without an answer;
**   CN3  the thread answers one request at a time and never blocks on a client: the part of an
**        answer that a client does not accept is sent later, and no further request of this
**        client is read before that. These clients are disconnected:
**          - one that neither sends nor accepts anything for five seconds (but see CN6)
**          - if 64 clients (SERVER_CLIENTS) are connected and another one connects, the one that
**            has been silent for longest; one that waits for a snapshot only if all wait
**          - a new one, after an error, if it leaves too few free descriptors (descriptor.h),
**            because the program must be able to open its own files;
**   CN4  an existing file at the socket's path is replaced only if it is a socket at which no
**        process listens, or the socket that this process created last;
**   CN5  the child of a fork closes its copies of the control thread's descriptors. Otherwise a
**        client that the parent disconnects would not see the end of the connection, and clients
**        could connect to a socket that only the child has open, and nobody serves;
**   CN6  a client that has requested a snapshot may wait for it without a limit; other clients
**        are answered meanwhile. A client that disconnects before the snapshot has started
**        cancels it;
**   CN7  a program may close the thread's descriptors and open other files under their numbers. A
**        number that no longer refers to the recorded file is not used, and the socket is created
**        again. The numbers are checked at least once a second, because poll does not report such
**        a change. If the socket could not be created, each check tries again, except if the first
**        attempt in the process failed for another reason than want of descriptors. Only the first
**        of several failures is reported;
**   CN8  if poll fails or no descriptor is left for a new client, the thread sleeps until its next
**        attempt, so that it uses no processor time. poll fails if the program lowers RLIMIT_NOFILE
**        below the number of its descriptors.
**
** The protocol: a request is one line of words separated by single spaces; the last word
** extends to the end of the line. An answer is a sequence of lines; the last line is "ok" or
** "error <reason>". A client may send several requests over one connection. requests.h lists
** the requests.
*/
#ifndef asamp_control_h
#define asamp_control_h

#include <stddef.h>
#include <stdint.h>

typedef struct ControlOptions {
  char *listen;		/* pattern of the socket's path (process_path). "": the default path,
			   which depends on the user of the process when the socket is created.
			   NULL: no socket */
  uint64_t rotate;	/* ns after which the profile continues in another file; 0: never */
  uint64_t keep;	/* number of profile files that are kept; older ones are removed
			   (keptfiles.h). 0: all are kept */
  uint64_t most;	/* approximate limit of a profile file's size in bytes, beyond which the
			   profile continues in another file; 0: no limit */
} ControlOptions;

/* Stores the options and takes over the string 'listen'. Called once, before control_ensure. */
void control_setup (const ControlOptions *o);

/* Starts the control thread if an option requires it and this process has not started it yet.
   Prints a message on stderr if the socket or the thread cannot be created. May be called often, by
   any thread, also in the child of a fork: it is fast if there is nothing to do. */
void control_ensure (void);

#endif
