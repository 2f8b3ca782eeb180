/* SPDX-License-Identifier: MIT */
/* Reads how much memory is free (memoryleft.h). */
#define _GNU_SOURCE
#include "memoryleft.h"
#include "descriptor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CGROUP	"/sys/fs/cgroup"

/* Returns the number in the file 'name' of a control group; UINT64_MAX: the file has no number, for
   example "max". */
static uint64_t number (const char *group, const char *name) {
  char path[640], s[32];
  snprintf(path, sizeof(path), CGROUP "%s/%s", group, name);
  descriptor_text(path, s, sizeof(s));
  return s[0] >= '0' && s[0] <= '9' ? strtoull(s, NULL, 10) : UINT64_MAX;
}

/* Returns the number of bytes that the process's control group may still use; UINT64_MAX: unknown,
   or no limit. */
static uint64_t ofgroup (void) {
  char s[512], *group, *end;
  uint64_t most, now;
  descriptor_text("/proc/self/cgroup", s, sizeof(s));
  if ((group = strstr(s, "0::/")) == NULL)
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
  const size_t n = descriptor_text("/proc/meminfo", s, sizeof(s));
  const char *at = n > 0 ? strstr(s, "MemAvailable:") : NULL;
  uint64_t free = at != NULL ? strtoull(at + sizeof("MemAvailable:") - 1, NULL, 10) * 1024
                             : UINT64_MAX;
  uint64_t group = ofgroup();
  return free < group ? free : group;
}
