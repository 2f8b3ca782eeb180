/* SPDX-License-Identifier: MIT */
/*
** forking: a library for LD_PRELOAD. When the profiler's module enlarges a block by realloc and
** the block moves, the process forks before realloc returns, as if another thread forked at that
** time. The child exits normally, and reports a failure on stderr. The library makes at most MOST
** forks, and prints their number on stderr when the process exits.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST	100

void *__libc_realloc (void *p, size_t n);

static int forks;
static int parent;

static int isprofiler (const void *caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != NULL &&
         strstr(info.dli_fname, "profiler/core.so") != NULL;
}

__attribute__((destructor)) static void report (void) {
  if (parent == getpid()) fprintf(stderr, "%d forks\n", forks);
}

void *realloc (void *p, size_t n) {
  void *q = __libc_realloc(p, n);
  if (p != NULL && q != p && forks < MOST &&
      isprofiler(__builtin_return_address(0))) {
    int status = 0;
    pid_t pid;
    forks++;
    parent = getpid();
    pid = fork();
    if (pid == 0) exit(0);
    waitpid(pid, &status, 0);
    if (status != 0) fprintf(stderr, "status of a child: %d\n", status);
  }
  return q;
}
