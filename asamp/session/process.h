/* SPDX-License-Identifier: MIT */
/*
** The profile that all Lua states of a process share. It has one file, one writer thread, and one
** timer per OS thread whose time is sampled, however many states there are. process_setup sets it
** up once, before the first state, with the options of the variable ASAMP. Each state is attached
** when it is made (sampler_attach). sampler.h explains how profile, sampler and process relate.
**
** The file is opened when the first state is made, so that a program that makes no state leaves no
** file. If the options sample nothing, process_switch opens the file. A flight recorder opens it
** for a dump. process_setup opens the folder of the file, so that a later chroot has no effect. The
** child of a fork opens its own file at its first sample, mark or new state, so that a child that
** calls exec leaves no file.
**
**   PR1  'profile' belongs to this process ('pid') or is NULL. It is changed with 'lock' held and
**        read without it;
**   PR2  a failure to open the file is reported once. process_switch tries again. If the cause may
**        pass, such as a full disk, states also try again, once a second. They take no samples
**        until an attempt succeeds.
*/
#ifndef asamp_process_h
#define asamp_process_h

#include <sys/stat.h>

#include "sampler.h"

/*
** Expands the pattern of a path: %p is 'pid', %n is 'number' (of the profile within the process,
** from 1), %t is 'epoch' (us since 1970) as UTC, %h is the host name, and %% is '%'. The caller
** frees the result. Returns NULL if there is not enough memory, or if the result has 2 * PATH_MAX
** bytes or more.
*/
char *process_path (const char *pattern, unsigned long pid, unsigned number,
                    uint64_t epoch);

/* Returns a pattern that process_path expands to 'text'; the caller frees it. NULL: no memory. */
char *process_literal (const char *text);

/*
** Sets up the profiling of all states made from now on. May be called once. Copies *with, whose
** option 'out' is a pattern; NULL: PROGRAM.%p.vmprof in the working folder. If nothing is to be
** sampled, profiling starts with process_switch. Returns 1, or 0 with one line in 'err'.
*/
int process_setup (const SamplerShared *with, char *err, size_t errsize);

/*
** Sets a function that is called once in each child of a fork, after the first collection of an
** attached state there.
*/
void process_controlled (void (*start) (void));

/* Attaches a new state. Does nothing if process_setup was not called or has failed. */
void process_join (lua_State *L);

/* The sampling rates of a recording. */
typedef struct ProcessRate {
  uint64_t period;	/* bytes between allocation samples; 0: none */
  uint64_t timens;	/* ns between time samples; 0: none */
  uint64_t most;	/* most allocation samples per second that a state takes; 0: no bound */
} ProcessRate;

/*
** Makes the process write to another file: to 'to' or, if 'to' is NULL, to the pattern's file with
** the next number. The old file ends at once; each state switches to the new one at its next sample
** or collection.
**   - 'rate' has the new sampling rates; NULL: no change
**   - 'temporary' is 1 for a temporary recording, which process_stop ends
** Not thread-safe, and must not be called in a callback of a state. On failure returns 0 with the
** reason in 'err', and nothing has changed.
*/
int process_switch (const char *to, const ProcessRate *rate, int temporary, char *err,
                    size_t errsize);
/*
** Ends a temporary recording and returns to the sampling rates of process_setup. If these sample
** anything, opens the pattern's next file. Returns 0 with the reason in 'err' if no temporary
** recording is running, or if it has ended but the next file could not be made (further attempts
** follow, see PR2).
*/
int process_stop (char *err, size_t errsize);

/*
** Writes the content of the flight recorder to a file (profile_dump). 'to' NULL: to the next file
** of the pattern. Returns 0 with the reason in 'err', also if there is no flight recorder.
*/
int process_dump (const char *to, char *path, size_t pathsize, char *err, size_t errsize);
int process_isring (void);

/* State of the process's profile. */
typedef struct ProcessStats {
  const char *path;	/* NULL: no file is being written */
  int isgone;		/* 1: the file was removed or renamed */
  int failed;		/* 1: there is no file, because it could not be made */
  int temporary;
  int isring;		/* 1: a flight recorder, which writes 'path' on request and at its end */
  uint64_t period, timens, bytes;  /* 'period': bytes between allocation samples. 'timens': ns
				      between time samples. 'bytes': size of the file, or of a
				      flight recorder's compressed events */
  int error;
  SharedTotals sum;	/* sums over all profiles of the process */
  SharedHeaps heaps;
  uint64_t rss;		/* resident bytes of the process */
} ProcessStats;

void process_stats (ProcessStats *s);
/* Adds a marker to the profile. Returns 0 if there is no profile or no attached state. */
int process_mark (const char *name, const char *value);
/* Returns ProfileTotals.bytes of the current profile; 0 also if there is none. */
uint64_t process_size (void);

/*
** Stores the status of the file 'whole', a path made from the pattern, in *id. Works even if the
** process has changed its root after process_setup. Returns 0 if there is no such file.
*/
int process_identify (const char *whole, struct stat *id);
/* Removes the file 'whole' (a path made from the pattern), unless its device and inode are no
   longer those in 'id'. */
void process_remove (const char *whole, const struct stat *id);

#endif
