/* SPDX-License-Identifier: MIT */
/* Mappings of the process (smaps.h). */
#define _GNU_SOURCE
#include "smaps.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "descriptor.h"

#define BUFFER	16384	/* bytes read at once */
#define STACKS	64	/* largest number of threads whose stack pointer is read */

/* A file that is read by lines. */
typedef struct Lines {
  int fd;
  char *data;
  size_t at, n;
} Lines;


/*
** Returns the next line without its newline; NULL at the end. A line longer than the buffer is
** truncated.
*/
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


/* Reads the stack pointers of all threads, this one first. Returns their number. */
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
    text[got] = '\0';  /* format: "number arguments... sp pc", or "running" */
    last = strrchr(text, ' ');
    if (last == NULL) continue;
    *last = '\0';
    last = strrchr(text, ' ');
    if (last != NULL) sp[n++] = (uintptr_t)strtoull(last + 1, NULL, 16);
  }
  if (tasks != NULL) closedir(tasks);
  return n;
}


static void addfile (Smaps *s, const char *name, uint64_t bytes) {
  size_t i, n = strlen(name);
  if (bytes == 0) return;
  if (n >= SMAPS_NAME) name += n - SMAPS_NAME + 1;
  for (i = 0; i < s->nfiles; i++)
    if (strcmp(s->files[i].name, name) == 0) break;
  if (i == s->nfiles && s->nfiles == SMAPS_FILES) {
    i = SMAPS_FILES - 1;  /* later files share the last entry */
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


/* Reads "from-to rights offset device inode   name". Not by sscanf, which takes five times as
   many instructions. */
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


static void smaps_add (Smaps *s, const Mapping *m, uint64_t bytes, const uintptr_t *sp,
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


int smaps_read (Smaps *s) {
  uintptr_t sp[STACKS];
  size_t nsp;
  Mapping m;
  Lines l = {-1, malloc(BUFFER), 0, 0};
  char *line;
  int known = 0;
  memset(s, 0, sizeof(*s));
  if (l.data == NULL) return 0;
  nsp = pointers(sp);
  l.fd = descriptor_open("/proc/self/smaps", O_RDONLY, 0);
  while (l.fd >= 0 && (line = nextline(&l)) != NULL) {
    if (strncmp(line, "Rss:", 4) == 0) {
      if (known) smaps_add(s, &m, (uint64_t)strtoull(line + 4, NULL, 10) * 1024, sp, nsp);
    }
    else if (strchr("0123456789abcdef", line[0]) != NULL && line[0] != '\0')
      known = heads(line, &m);
  }
  if (l.fd >= 0) close(l.fd);
  free(l.data);
  return s->rss > 0;
}


void smaps_malloc (SmapsMalloc *m) {
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


/* Opens the file each time: a descriptor kept open would show the parent after a fork, or a file
   that the program opened in its place. */
uint64_t smaps_rss (void) {
  char text[128], *resident;
  int fd = descriptor_open("/proc/self/statm", O_RDONLY, 0);
  ssize_t n = read(fd, text, sizeof(text) - 1);
  if (fd >= 0) close(fd);
  if (n <= 0) return 0;
  text[n] = '\0';
  resident = strchr(text, ' ');  /* after the size of all mappings */
  return (resident == NULL) ? 0 : (uint64_t)strtoull(resident, NULL, 10) *
                                  (uint64_t)sysconf(_SC_PAGESIZE);
}


static uint64_t rsswhen;	/* time of the last reading of smaps_recentrss, ns; atomic */

uint64_t smaps_rsstime (void) {
  return __atomic_load_n(&rsswhen, __ATOMIC_ACQUIRE);
}


uint64_t smaps_recentrss (uint64_t now, uint64_t age) {
  static uint64_t rss;
  if (now - __atomic_load_n(&rsswhen, __ATOMIC_ACQUIRE) >= age) {
    __atomic_store_n(&rss, smaps_rss(), __ATOMIC_RELAXED);
    __atomic_store_n(&rsswhen, now, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&rss, __ATOMIC_RELAXED);
}
