/* SPDX-License-Identifier: MIT */
/*
** settledfork(ms) forks the process. With AddressSanitizer, it first waits up to about 'ms'
** milliseconds until all other threads of the process sleep. The sanitizer's allocator does not
** support fork: if another thread holds a lock of the allocator at that time, the child waits for
** this lock forever. A profile's writer thread may hold one, also while it starts.
*/
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the number of threads of the process that do not sleep, including the calling thread. */
static int countawake (void) {
  DIR *threads = opendir("/proc/self/task");
  struct dirent *e;
  int n = 0;
  while (threads != NULL && (e = readdir(threads)) != NULL) {
    char path[300], text[128] = "", *end;
    FILE *f;
    snprintf(path, sizeof(path), "/proc/self/task/%s/stat", e->d_name);
    if (atoi(e->d_name) == 0 || (f = fopen(path, "r")) == NULL) continue;
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    end = strrchr(text, ')');  /* the state of the thread is the letter after its name: "(name) S" */
    n += (end == NULL || strncmp(end, ") S", 3) != 0);
  }
  if (threads != NULL) closedir(threads);
  return n;
}

static pid_t settledfork (int ms) {
  int i;
  for (i = 0; i < ms && dlsym(RTLD_DEFAULT, "__asan_init") != NULL && countawake() > 1; i++)
    usleep(1000);
  return fork();
}
