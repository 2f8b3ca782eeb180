/* SPDX-License-Identifier: MIT */
/* Reads how much memory is free (memoryleft.h). */
#define _GNU_SOURCE
#include "memoryleft.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CGROUP	"/sys/fs/cgroup"

/* Reads up to size - 1 bytes from the start of a file, and stores them in 'to' with a NUL. Returns
   0 if the file is empty or unreadable. */
static int text (const char *path, char *to, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read(fd, to, size - 1) : -1;
  if (fd >= 0)
    close(fd);
  to[n > 0 ? n : 0] = '\0';
  return n > 0;
}

/* Returns the number in the file 'name' of a control group; UINT64_MAX: the file has no number, for
   example "max". */
static uint64_t number (const char *group, const char *name) {
  char path[640], s[32];
  snprintf(path, sizeof(path), CGROUP "%s/%s", group, name);
  return text(path, s, sizeof(s)) && s[0] >= '0' && s[0] <= '9' ? strtoull(s, NULL, 10)
                                                                 : UINT64_MAX;
}

/* Returns the bytes that the process's control group may still use; UINT64_MAX: no limit. */
static uint64_t ofgroup (void) {
  char s[512], *group, *end;
  uint64_t most, now;
  if (!text("/proc/self/cgroup", s, sizeof(s)) || (group = strstr(s, "0::/")) == NULL)
    return UINT64_MAX;
  group += 3;
  if ((end = strchr(group, '\n')) != NULL)
    *end = '\0';
  most = number(group, "memory.max");
  now = number(group, "memory.current");
  if (most == UINT64_MAX || now == UINT64_MAX)
    return UINT64_MAX;
  return most > now ? most - now : 0;
}

uint64_t memoryleft (void) {
  char s[512];
  const char *at = text("/proc/meminfo", s, sizeof(s)) ? strstr(s, "MemAvailable:") : NULL;
  uint64_t free = at != NULL ? strtoull(at + sizeof("MemAvailable:") - 1, NULL, 10) * 1024
                             : UINT64_MAX;
  uint64_t group = ofgroup();
  return free < group ? free : group;
}
