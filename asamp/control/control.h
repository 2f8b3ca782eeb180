/* SPDX-License-Identifier: MIT */
/*
** The control thread of a process: it answers requests at a Unix socket (asamp stat, asamp
** record, ...) while the program runs, and changes the profile's file when the file is too
** large or too old. The thread runs no Lua code. When no client is connected, it wakes up once
** a second. A request that needs a Lua state's own thread is handled at the end of that state's
** next collection (sampler_request).
**
** The socket exists only if an option requests it. Rules:
**   CN1  the socket's mode is 0600. Its folder must belong to this user, and nobody else may be
**        able to write there; a missing folder is created with mode 0700;
**   CN2  a client must be of the same user or root (SO_PEERCRED), otherwise it receives no
**        answer;
**   CN3  the thread answers one request at a time and never blocks on a client: the part of an
**        answer that a client does not accept is sent later, and no further request of this
**        client is read before that. A client that neither sends nor accepts anything for five
**        seconds is disconnected. When there are more than 64 clients (SERVER_CLIENTS), the one
**        that has been silent for longest is disconnected. The socket must not keep the program
**        from opening its own files: some descriptors stay free (descriptor.h), otherwise no
**        client is accepted;
**   CN4  of the files that exist at the socket's path, only a socket at which no process
**        listens is replaced;
**   CN5  the child of a fork closes the descriptors of the control thread. A client that the
**        parent disconnects therefore sees the end of the connection, and nobody can connect to
**        a socket that a child holds open without serving it;
**   CN6  a client that has requested a snapshot may wait for it without a limit; other clients
**        are answered meanwhile. A client that disconnects before the snapshot has started
**        cancels it;
**   CN7  a program may close descriptors that are not its own and reuse their numbers. A
**        descriptor that is not recognized any more is not used, and the socket is created
**        again within a second: poll looks up its numbers again when it wakes, so it could
**        otherwise continue to wait for the new owner of a number;
**   CN8  a program may have no descriptor left for a new client, or lower RLIMIT_NOFILE below
**        the number of its descriptors, so that even poll fails. The thread then sleeps until
**        its next attempt and uses no processor time.
**
** The protocol: a request is one line of words separated by single spaces; the last word
** extends to the end of the line. An answer is a sequence of lines; the last one is "ok" or
** "error <reason>". A client may send several requests over one connection. requests.h lists
** the requests.
*/
#ifndef asamp_control_h
#define asamp_control_h

#include <stddef.h>
#include <stdint.h>

typedef struct ControlOptions {
  char *listen;		/* pattern of the socket's path (process_path). "": the default path
			   of the user that the process has when the socket is created. NULL:
			   no socket */
  uint64_t rotate;	/* ns after which the profile continues in another file; 0: never */
  uint64_t keep;	/* number of files of the pattern that are kept; older files are
			   removed, except files of dumps. 0: all are kept */
  uint64_t most;	/* approximate limit of a file's size in bytes; 0: no limit */
} ControlOptions;

/* Stores the options. The callee owns the strings afterwards. */
void control_setup (const ControlOptions *o);

/*
** Starts the control thread if an option requires one and this process does not have one yet.
** Otherwise it returns quickly; any thread may call it often.
*/
void control_ensure (void);

#endif
