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

#define BUFFER	16384	/* size of the buffer for files in /proc, bytes */
#define RESERVED	(UINT64_C(1) << 30)	/* bytes; mappings above this size are not read page
                                                   by page */
#define STACKS	64	/* largest number of threads whose stack pointer is read */

/* A file that is read by lines. */
typedef struct Lines {
  int fd;
  char *data;
  size_t at, n;
} Lines;

/* Returns the next line without its newline; NULL at the end of the file. Of a line that exceeds
   the buffer, only the end is returned. */
static char *nextline (Lines *l) {
  for (;;) {
    char *from = l->data + l->at, *end = memchr(from, '\n', l->n - l->at);
    ssize_t got;
    if (end != NULL) {
      *end = '\0';
      l->at = (size_t)(end - l->data) + 1;
      return from;
    }
    memmove(l->data, from, l->n - l->at);
    l->n -= l->at;
    l->at = 0;
    if (l->n == BUFFER) l->n = 0;
    got = read(l->fd, l->data + l->n, BUFFER - l->n);
    if (got <= 0) return NULL;
    l->n += (size_t)got;
  }
}

/* Stores the stack pointers of this thread and of all other threads that are blocked. Returns their
   number. */
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
    ssize_t got = 0;
    int fd;
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof(path), "/proc/self/task/%s/syscall", entry->d_name);
    fd = descriptor_open(path, O_RDONLY, 0);
    if (fd >= 0) {
      got = read(fd, text, sizeof(text) - 1);
      close(fd);
    }
    if (got <= 0) continue;
    text[got] = '\0';  /* format of the file: "number arguments... sp pc", or "running" */
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

typedef struct Mapping {
  uintptr_t from, to;
  unsigned long inode;
  char name[512];
} Mapping;

/* Parses a line "from-to rights offset device inode name". Returns 0 if the line has no '-'. This
   parser is five times as fast as sscanf. */
static int heads (const char *line, Mapping *m) {
  char *end;
  size_t n;
  int field;
  m->from = (uintptr_t)strtoull(line, &end, 16);
  if (*end != '-') return 0;
  m->to = (uintptr_t)strtoull(end + 1, &end, 16);
  for (field = 0; field < 3; field++) {
    end += strspn(end, " ");
    end += strcspn(end, " ");
  }
  m->inode = strtoul(end, &end, 10);
  end += strspn(end, " ");
  n = strlen(end);
  if (n >= sizeof(m->name)) n = sizeof(m->name) - 1;
  memcpy(m->name, end, n);
  m->name[n] = '\0';
  return 1;
}

static void mappings_add (Mappings *s, const Mapping *m, uint64_t bytes, const uintptr_t *sp,
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
static uint64_t offile (int fd, const Mapping *m) {
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
static int isanonymous (const Mapping *m) {
  return m->inode == 0 && (m->name[0] == '\0' || strcmp(m->name, "[heap]") == 0 ||
                           strcmp(m->name, "[stack]") == 0 || strncmp(m->name, "[anon", 5) == 0);
}

int mappings_read (Mappings *s) {
  uintptr_t sp[STACKS];
  size_t nsp;
  Mapping m;
  Lines l = {-1, malloc(BUFFER), 0, 0};
  char *line;
  int pagemap, isrest = 0;
  memset(s, 0, sizeof(*s));
  if (l.data == NULL) return 0;
  nsp = pointers(sp);
  pagemap = descriptor_open("/proc/self/pagemap", O_RDONLY, 0);
  if (pagemap >= 0) l.fd = descriptor_open("/proc/self/maps", O_RDONLY, 0);
  while (l.fd >= 0 && (line = nextline(&l)) != NULL) {
    if (!heads(line, &m)) continue;
    if (m.to - m.from > RESERVED) isrest = 1;
    else mappings_add(s, &m, isanonymous(&m) ? mappings_resident((void *)m.from, m.to - m.from)
                                             : offile(pagemap, &m), sp, nsp);
  }
  if (l.fd >= 0) close(l.fd);
  if (pagemap >= 0) close(pagemap);
  if (isrest && s->rss > 0) {
    uint64_t rss = mappings_rss();
    if (rss > s->rss) {
      s->anonymous += rss - s->rss;
      s->rss = rss;
    }
  }
  free(l.data);
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
  int fd = descriptor_open("/proc/self/statm", O_RDONLY, 0);
  ssize_t n = read(fd, text, sizeof(text) - 1);
  if (fd >= 0) close(fd);
  if (n <= 0) return 0;
  text[n] = '\0';
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
