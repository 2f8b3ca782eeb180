/* SPDX-License-Identifier: MIT */
/*
** Writes snapshots of a state's heap. This file creates the snapshot's file, and a child process
** that walks its copy of the heap and writes the file, compressed. dump.h encodes the heap
** (heapformat.h); memoryleft.h decides whether there is enough memory for a child. The folder's
** only data that outlive a call are the ids of up to 16 children that are still writing.
** Invariants:
**
**   SN1  the program waits until the file is open and the child is forked, and no longer, except
**        if no fork is possible, if the caller requests to wait or to write without a child, or
**        if 16 children are already writing;
**   SN2  the program does not notice the child (quietfork.h), which runs none of the program's
**        code, not even its signal handlers. The child closes all descriptors of the program
**        except 0, 1, 2 and the file;
**   SN3  the child calls neither malloc nor a function of Lua except luaN_walk: another thread of
**        the program may have been inside malloc or Lua at the fork. The child's memory is
**        allocated before the fork or with mmap;
**   SN4  a regular file that could not be completed is removed, unless a signal has killed the
**        child. The file is locked while it is being written;
**   SN5  a snapshot with a time limit is refused if memory is short, and its child is the process
**        that a system without memory kills first.
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
  int option;		/* 1: the error message may name the caller's option 'overwrite' */
  int wait;		/* 1: wait until the file is complete */
  int inprocess;	/* 1: write the file in this process, without a child */
  unsigned seconds;	/* time limit of the snapshot, after which it fails; 0: none */
  const char *command;	/* the command line, stored in the file as information; may be NULL */
} SnapshotWish;

/* Result of snapshot_take. */
typedef struct Snapshot {
  char *path;		/* path of the file, which may have a number (place.h); the caller frees
			   it */
  int forked;		/* 1: a child has written the file, or is writing it */
  int refused;		/* errno of a failed fork; 0: no fork failed */
  pid_t child;		/* the child that is still writing; 0: the file is complete */
  uint64_t stopped;	/* ns that the program has waited */
} Snapshot;

/*
** Writes a snapshot of L's heap. To be called on the OS thread that runs the state, where luaN_walk
** may be called. Returns 1 if the file is complete, or a child is writing it: the child reports a
** later failure on stderr. Returns 0 on failure: s->path is NULL, 'err' (a buffer of 'size' bytes)
** has the reason in one line, and errno is set.
*/
int snapshot_take (lua_State *L, const SnapshotWish *wish, Snapshot *s, char *err,
                   size_t size);

#endif
