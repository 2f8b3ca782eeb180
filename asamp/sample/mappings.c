/* SPDX-License-Identifier: MIT */
/* Reads the resident memory of the process (mappings.h). */
#define _GNU_SOURCE
#include "mappings.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "descriptor.h"
#include "maps.h"

#define RESERVED	(UINT64_C(1) << 30)	/* bytes; larger mappings are not read (SM2) */
#define STACKS	64	/* largest number of threads whose stack pointer is read */

/* Stores the stack pointers of this thread and of other threads that are blocked, at most STACKS.
   Returns their number. */
static size_t pointers (uintptr_t sp[STACKS]) {
  struct dirent *entry;
  size_t n = 0;
  DIR *tasks;
  sp[n++] = (uintptr_t)&entry;
  descriptor_hold();
  tasks = opendir("/proc/self/task");
  descriptor_release();
  while (tasks != NULL && n < STACKS && (entry = readdir(tasks)) != NULL) {
    char path[300], text[256], *last;
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof(path), "/proc/self/task/%s/syscall", entry->d_name);
    /* format of the file: "number arguments... sp pc", or "running" */
    descriptor_text(path, text, sizeof(text));
    last = strrchr(text, ' ');
    if (last == NULL) continue;
    *last = '\0';
    last = strrchr(text, ' ');
    if (last != NULL) sp[n++] = (uintptr_t)strtoull(last + 1, NULL, 16);
  }
  if (tasks != NULL) closedir(tasks);
  return n;
}

static void addfile (Mappings *s, const char *name, uint64_t bytes) {
  size_t i, n = strlen(name);
  if (bytes == 0) return;
  if (n >= MAPPINGS_NAME) name += n - MAPPINGS_NAME + 1;
  for (i = 0; i < s->nfiles; i++)
    if (strcmp(s->files[i].name, name) == 0) break;
  if (i == s->nfiles && s->nfiles == MAPPINGS_FILES) {
    i = MAPPINGS_FILES - 1;  /* no space for another name: the last entry is for all other files */
    strcpy(s->files[i].name, "(other files)");
  }
  else if (i == s->nfiles) {
    s->files[i].bytes = 0;
    strcpy(s->files[s->nfiles++].name, name);
  }
  s->files[i].bytes += bytes;
}

static void mappings_add (Mappings *s, const Maps *m, uint64_t bytes, const uintptr_t *sp,
                       size_t nsp) {
  size_t i;
  s->rss += bytes;
  if (m->inode != 0 || m->name[0] == '/') addfile(s, m->name, bytes);
  else if (strcmp(m->name, "[heap]") == 0) {
    s->heap += bytes;
    s->heapsize += m->to - m->from;
  }
  else if (strcmp(m->name, "[stack]") == 0) s->stacks += bytes;
  else if (m->name[0] == '[' && strncmp(m->name, "[anon", 5) != 0) s->system += bytes;
  else {
    for (i = 0; i < nsp && !(sp[i] >= m->from && sp[i] < m->to); i++) { }
    if (i < nsp) s->stacks += bytes;
    else s->anonymous += bytes;
  }
}

uint64_t mappings_resident (const void *from, size_t bytes) {
  unsigned char pages[2048];
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const char *p = (const char *)((uintptr_t)from & ~(page - 1)), *end = (const char *)from + bytes;
  uint64_t n = 0;
  while (p < end) {
    size_t i, many = ((size_t)(end - p) + page - 1) / page;
    if (many > sizeof(pages)) many = sizeof(pages);
    if (mincore((void *)(uintptr_t)p, many * page, pages) == 0)
      for (i = 0; i < many; i++) n += pages[i] & 1;
    p += many * page;
  }
  return n * page;
}

/* Returns the resident bytes of a mapping according to /proc/self/pagemap, whose descriptor is
   'fd'. */
static uint64_t offile (int fd, const Maps *m) {
  uint64_t entries[512], n = 0;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uintptr_t from = m->from;
  while (from < m->to) {
    size_t i, many = (m->to - from) / page;
    ssize_t got;
    if (many > sizeof(entries) / sizeof(entries[0])) many = sizeof(entries) / sizeof(entries[0]);
    got = pread(fd, entries, many * sizeof(entries[0]),
                (off_t)(from / page * sizeof(entries[0])));
    if (got <= 0) break;
    for (i = 0; i < (size_t)got / sizeof(entries[0]); i++) n += entries[i] >> 63;
    from += many * page;
  }
  return n * page;
}

/* Returns 1 if the mapping is anonymous memory. For other mappings, mincore reports the pages in
   the page cache, not those of the process. */
static int isanonymous (const Maps *m) {
  return m->inode == 0 && (m->name[0] == '\0' || strcmp(m->name, "[heap]") == 0 ||
                           strcmp(m->name, "[stack]") == 0 || strncmp(m->name, "[anon", 5) == 0);
}

int mappings_read (Mappings *s) {
  uintptr_t sp[STACKS];
  size_t nsp;
  Maps m;
  int pagemap, isopen = maps_open(&m), isrest = 0;
  memset(s, 0, sizeof(*s));
  nsp = pointers(sp);
  pagemap = descriptor_open("/proc/self/pagemap", O_RDONLY, 0);
  while (isopen && pagemap >= 0 && maps_next(&m)) {
    if (m.to - m.from > RESERVED) isrest = 1;
    else mappings_add(s, &m, isanonymous(&m) ? mappings_resident((void *)m.from, m.to - m.from)
                                             : offile(pagemap, &m), sp, nsp);
  }
  maps_close(&m);
  if (pagemap >= 0) close(pagemap);
  if (isrest && s->rss > 0) {
    uint64_t rss = mappings_rss();
    if (rss > s->rss) {
      s->anonymous += rss - s->rss;
      s->rss = rss;
    }
  }
  return s->rss > 0;
}

void mappings_malloc (MappingsMalloc *m) {
  memset(m, 0, sizeof(*m));
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
  {
    struct mallinfo2 i = mallinfo2();
    m->inuse = i.uordblks + i.hblkhd;
    m->unused = i.fordblks;
    m->arenas = i.arena;
    m->mapped = i.hblkhd;
  }
#endif
#endif
}

/* Reads the resident bytes from /proc/self/statm. Opens the file each time, because an open
   descriptor would refer to the parent after a fork. */
uint64_t mappings_rss (void) {
  char text[128], *resident;
  descriptor_text("/proc/self/statm", text, sizeof(text));
  resident = strchr(text, ' ');  /* the line starts with the size of all mappings and the
                                    resident size, in pages */
  return (resident == NULL) ? 0 : (uint64_t)strtoull(resident, NULL, 10) *
                                  (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t rsswhen;	/* time of the last reading in mappings_recentrss, ns; atomic */

uint64_t mappings_rsstime (void) {
  return __atomic_load_n(&rsswhen, __ATOMIC_ACQUIRE);
}

uint64_t mappings_recentrss (uint64_t now, uint64_t age) {
  static uint64_t rss;
  if (now - __atomic_load_n(&rsswhen, __ATOMIC_ACQUIRE) >= age) {
    __atomic_store_n(&rss, mappings_rss(), __ATOMIC_RELAXED);
    __atomic_store_n(&rsswhen, now, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&rss, __ATOMIC_RELAXED);
}
