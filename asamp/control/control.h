/* SPDX-License-Identifier: MIT */
/*
** A process that is asked while it runs, and whose files are bounded: a thread that waits
** at a Unix socket, and for the next time when the file is to be changed. It runs no Lua,
** and costs a look a second while nobody asks; what needs a state's own thread is done at the end
** of that state's next collection (sampler_ask).
**
** The socket is there only if it is asked for. Rules:
**   CN1  its mode is 0600, and the folder that it is in belongs to this user and nobody
**        else may write there; one that is not there is made, 0700;
**   CN2  who connects is of this user, or root (SO_PEERCRED), else is not answered;
**   CN3  one request at a time is answered, and nobody is waited for: what a client does not
**        take of its answer is sent when it does, and no more of it is read before. Who says
**        or takes nothing for five seconds is left, and of more than 64 (SERVER_CLIENTS) who
**        has been silent for longest. Nor the program from its files:
**        of its descriptors some stay free (descriptor.h), or nobody is listened to;
**   CN4  of what is there under the socket's name only a socket that nobody listens to is
**        replaced;
**   CN5  what it has open is this process's alone: the child of a fork closes it, so that
**        who is left by the parent sees an end, and nobody connects to a socket that a
**        child keeps and does not serve;
**   CN6  who asks for a snapshot waits for it as long as it likes, others are answered
**        meanwhile; who leaves before it is begun takes the request back;
**   CN7  a program may close descriptors that are not its own, and have their numbers for
**        something else: what is not known any more is not touched, and the socket is made
**        again, within a second: poll, which looks a number up again when it wakes, may go on
**        to wait for what has that number now;
**   CN8  a program may have no descriptor left for who connects, or forbid itself any more of them
**        than it has (RLIMIT_NOFILE), so that even poll refuses: the thread waits until it tries
**        again, and takes none of the program's time meanwhile.
**
** The protocol: a request is a line, its words apart by a space, the last one to the end
** of the line; an answer is lines, of which the last one is "ok" or "error <why>". More
** requests may follow. requests.h has the words.
*/
#ifndef asamp_control_h
#define asamp_control_h

#include <stddef.h>
#include <stdint.h>

typedef struct ControlOptions {
  char *listen;		/* pattern of the socket's path (process_path); "": the default, of
			   the user that the process is when it begins to listen; NULL: none */
  uint64_t rotate;	/* ns from file to file; 0: it stays */
  uint64_t keep;	/* of the pattern's files so many stay, but for dumps; 0: all */
  uint64_t most;	/* bytes of a file, about; 0: no limit */
} ControlOptions;

/* What is to be; the strings are the callee's from here on. */
void control_setup (const ControlOptions *o);

/* The thread, if something is to be, and this process has none yet. Cheap. */
void control_ensure (void);

#endif
