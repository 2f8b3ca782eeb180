/* SPDX-License-Identifier: MIT */
/*
** The profile that all Lua states of a process share: one file, one writer thread, one timer per OS
** thread. process_setup sets it up with the options of the environment variable ASAMP. The first
** state opens the file. In a forked child, the first sample, mark or new state opens the child's
** file, so that a child that soon calls exec leaves no file. The child's time is sampled from the
** first safepoint after the fork on.
**
**   PR1  the variable 'profile' of process.c is NULL or belongs to this process ('pid'). It is
**        changed with 'lock' held and read without it;
**   PR2  a failure to open the file is reported once. If the cause may pass, such as a full disk,
**        opening is tried again once a second; no samples are taken until then.
*/
#ifndef asamp_process_h
#define asamp_process_h

#include <sys/stat.h>

#include "sampler.h"

/* Expands the placeholders of a path: %p becomes 'pid', %n 'number', %t the time 'epoch' (us since
   1970) in UTC, %h the host name, and %% becomes %. The caller frees the result. Returns NULL if it
   is too long or if out of memory. */
char *process_path (const char *pattern, unsigned long pid, unsigned number,
                    uint64_t epoch);

/* Sets up profiling of all states made later. Call it once. Copies *with. with->options.out is a
   pattern for process_path; NULL: PROGRAM.%p.vmprof. Returns 0 with a line in 'err' on failure. */
int process_setup (const SamplerShared *with, char *err, size_t errsize);

/* Sets a function to be called once in each forked child, after the child's first sample or
   collection. */
void process_controlled (void (*start) (void));

/* Attaches a new state to the profile, if there is one. */
void process_join (lua_State *L);

/* The sampling rates of a profile. */
typedef struct ProcessRate {
  uint64_t period;	/* bytes between allocation samples; 0: none */
  uint64_t timens;	/* ns between time samples; 0: none */
  uint64_t most;	/* limit of the allocation samples per second, for each state; 0: none */
} ProcessRate;

/*
** Ends the current file of the profile and continues in the file 'to'. If 'to' is NULL, makes the
** path of the new file from the option 'out' and the number of the new file (process_path). Returns
** 0 with the reason in 'err' on failure, and then changes nothing.
** rate       the new sampling rates; NULL: unchanged
** temporary  1: the new file is a recording, that is, a temporary profile that process_stop ends
**
** Not thread-safe. Must not be called in a callback of the profiler, because it takes the
** profiler's locks.
*/
int process_switch (const char *to, const ProcessRate *rate, int temporary, char *err,
                    size_t errsize);
/* Ends a recording (process_switch) and restores the sampling rates of process_setup. If
   process_setup has requested samples of any kind, continues in a new file, like process_switch
   with 'to' NULL. Returns 0 with the reason in 'err' if no recording is running or the new file
   could not be made. */
int process_stop (char *err, size_t errsize);

/* Writes the content of the flight recorder to the file 'to'. If 'to' is NULL, makes the path of a
   new file from the option 'out' and the file's number. Stores the path in 'path'. Returns 0 with
   the reason in 'err' on failure. */
int process_dump (const char *to, char *path, size_t pathsize, char *err, size_t errsize);
/* Returns 1 if the profile is a flight recorder. */
int process_isring (void);

/* State of the process's profile. */
typedef struct ProcessStats {
  const char *path;	/* NULL: no file */
  int isgone;		/* 1: the file was renamed; 2: it was removed */
  int failed;		/* 1: the file could not be made */
  int temporary;	/* 1: a recording (process_switch) is running */
  int cut;		/* errno with which writing the last recording failed, or 0 */
  int isring;		/* 1: a flight recorder, which writes 'path' on request and at its end */
  /* Numbers of the profile.
     period  bytes between allocation samples
     timens  ns between time samples
     bytes   size of the file, or of a flight recorder's events */
  uint64_t period, timens, bytes;
  int error;		/* errno of the file's failed write; 0: none */
  SharedTotals sum;	/* sums over all Lua states and all profiles of the process */
  SharedHeaps heaps;
  uint64_t rss;		/* resident bytes of the process */
} ProcessStats;

void process_stats (ProcessStats *s);
/* Adds a mark to the profile. Returns 0 if there is no profile or no attached state. */
int process_mark (const char *name, const char *value);
/* Returns the bytes of the profile's file, or of a flight recorder's events; 0: no profile. */
uint64_t process_size (void);

/* Stores in *id the status of the file with the absolute path 'whole'. Finds the file in the
   profiles' folder even after a chroot. Returns 0 if the file does not exist. */
int process_identify (const char *whole, struct stat *id);
/* Removes the file with the absolute path 'whole' if its device and inode are still those in
   *id. */
void process_remove (const char *whole, const struct stat *id);

#endif
