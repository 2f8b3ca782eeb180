/* SPDX-License-Identifier: MIT */
/*
** Writes snapshots of a state's heap. This file creates the snapshot's file, and forks a child
** process, which walks its copy of the heap and writes the file, compressed. dump.h encodes the
** heap (heapformat.h). memoryleft.h returns the free memory, from which this file decides whether a
** child may be forked. The folder's only data that outlive a call are the ids of up to 16 children
** that are still writing. Invariants:
**
**   SN1  the program waits only until the file is open and the child is forked. In three cases it
**        waits until the file is complete: no fork is possible; the caller requests to wait, or to
**        write without a child; 16 children are already writing;
**   SN2  the program does not notice the child (quietfork.h). The child runs none of the program's
**        code, not even its signal handlers, and closes all descriptors of the program except 0, 1,
**        2, the temporary file and the final file, which it keeps locked;
**   SN3  the child calls neither malloc nor a function of Lua except luaN_walk: another thread of
**        the program may have been inside malloc or Lua at the fork. The child's memory is
**        allocated before the fork or with mmap;
**   SN4  the final file is locked until the snapshot has replaced it. A snapshot that could not be
**        completed changes no existing file, and its files are removed and the failure is reported
**        by the child. If a signal has killed the child, snapshot_take does so if it waits, else the
**        next snapshot_check. If the program has ended before, an empty final file and the temporary
**        file stay;
**   SN5  a snapshot with a time limit is refused if memory is short. Its child is the first process
**        that the kernel kills when the system runs out of memory.
*/
#ifndef asamp_snapshot_h
#define asamp_snapshot_h

#include "lua.h"

#include <stdint.h>
#include <sys/types.h>

/* Arguments of snapshot_take. */
typedef struct SnapshotWish {
  const char *path;
  int replace;		/* which existing files may be replaced: PLACE_NONE, ... of place.h */
  int option;		/* 1: the caller has an option 'overwrite', which error messages may name */
  int wait;		/* 1: wait until the file is complete */
  int inprocess;	/* 1: write the file in this process, without a child */
  unsigned seconds;	/* time limit of the snapshot, after which it fails; 0: none */
  const char *command;	/* the command line, stored in the file as information; may be NULL */
} SnapshotWish;

/* Result of snapshot_take. */
typedef struct Snapshot {
  char *path;		/* path of the file; place.h may have added a number. The caller frees
			   this string */
  int forked;		/* 1: a child has written the file, or is writing it */
  int refused;		/* errno of a failed fork; 0: no fork failed */
  pid_t child;		/* id of the child that is still writing; 0: the file is complete */
  uint64_t stopped;	/* ns that the program was stopped in snapshot_take */
} Snapshot;

/*
** Writes a snapshot of L's heap. To be called on the OS thread that runs the state, at a point
** where luaN_walk may be called. Returns 1 if the file is complete, or if a child is still writing
** it; the child reports a failure on stderr. On failure returns 0, sets s->path to NULL, sets
** errno, and writes the reason in one line to 'err' (a buffer of 'size' bytes).
*/
int snapshot_take (lua_State *L, const SnapshotWish *wish, Snapshot *s, char *err,
                   size_t size);

/*
** Removes the files of children that signals have killed, and reports these failures on stderr.
** snapshot_take calls it first; it is also called when a session stops and when the process exits.
*/
void snapshot_check (void);

#endif
