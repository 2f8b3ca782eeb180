/* SPDX-License-Identifier: MIT */
/*
** Names of native addresses (native.h).
*/
#define _GNU_SOURCE
#include "native.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* An object file in memory. */
typedef struct Image {
  struct Image *next;
  void *data;
  size_t size;
} Image;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Dwfl *session;		/* of the objects loaded at 'loads' */
static unsigned long long loads;	/* dlopens the process had done then */
static Image *images;		/* of the session */


/* Separate debug files are not looked for: symbol tables are enough. */
static int nodebuginfo (Dwfl_Module *mod, void **ud, const char *name,
                        Dwarf_Addr base, const char *file, const char *link,
                        GElf_Word crc, char **path) {
  (void)mod; (void)ud; (void)name; (void)base;
  (void)file; (void)link; (void)crc; (void)path;
  return -1;
}


/* The file of that path; NULL: there is none, or none to be mapped. */
static void *mapfile (const char *path, size_t *size) {
  struct stat s;
  void *data;
  int fd;
  if (stat(path, &s) != 0 || !S_ISREG(s.st_mode) || s.st_size == 0) return NULL;
  if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) return NULL;
  *size = (size_t)s.st_size;
  data = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  close(fd);
  return (data != MAP_FAILED) ? data : NULL;
}


/* A copy of the kernel's own object, which has no file. */
static void *mapkernel (Dwfl_Module *mod, size_t *size) {
  Dwarf_Addr start = 0, end = 0;
  void *data;
  dwfl_module_info(mod, NULL, &start, &end, NULL, NULL, NULL, NULL);
  if (start == 0 || start != getauxval(AT_SYSINFO_EHDR)) return NULL;
  *size = (size_t)(end - start);
  data = mmap(NULL, *size, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return NULL;
  return memcpy(data, (const void *)(uintptr_t)start, *size);
}


/* Gives libdwfl the object as memory: of a file, it would keep the descriptor. */
static int findelf (Dwfl_Module *mod, void **ud, const char *name,
                    Dwarf_Addr base, char **file, Elf **elf) {
  Image *image = malloc(sizeof(*image));
  (void)ud; (void)base;
  if (image == NULL) return -1;
  image->data = (name[0] == '/') ? mapfile(name, &image->size)
                                 : mapkernel(mod, &image->size);
  if (image->data == NULL) {
    free(image);
    return -1;
  }
  image->next = images;
  images = image;
  *elf = elf_memory(image->data, image->size);
  if (name[0] == '/') *file = strdup(name);
  return -1;
}


static const Dwfl_Callbacks callbacks = {
  .find_elf = findelf,
  .find_debuginfo = nodebuginfo,
};


static int countloads (struct dl_phdr_info *info, size_t size, void *ud) {
  (void)size;
  *(unsigned long long *)ud = info->dlpi_adds;
  return 1;
}


static void end (void) {
  dwfl_end(session);
  session = NULL;
  while (images != NULL) {
    Image *image = images;
    images = image->next;
    munmap(image->data, image->size);
    free(image);
  }
}


/* The session for what is loaded now; NULL when there is none to be had. */
static Dwfl *current (void) {
  unsigned long long now = 0;
  dl_iterate_phdr(countloads, &now);
  if (session != NULL && loads == now) return session;
  end();
  session = dwfl_begin(&callbacks);
  if (session != NULL && (dwfl_linux_proc_report(session, getpid()) != 0 ||
                          dwfl_report_end(session, NULL, NULL) != 0))
    end();
  loads = now;
  return session;
}


static void beforefork (void) {
  pthread_mutex_lock(&lock);
}


static void afterfork (void) {
  pthread_mutex_unlock(&lock);
}


static void once (void) {
  elf_version(EV_CURRENT);
  pthread_atfork(beforefork, afterfork, afterfork);  /* NA2 */
}


void native_name (void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  Dwfl *s;
  (void)ud;
  pthread_once(&control, once);
  *symbol = *file = '\0';
  pthread_mutex_lock(&lock);
  if ((s = current()) != NULL) {
    Dwfl_Module *mod = dwfl_addrmodule(s, address);
    if (mod != NULL) {
      const char *path = NULL;
      const char *name = dwfl_module_addrname(mod, address);
      dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, &path, NULL);
      if (name != NULL) snprintf(symbol, symbolsize, "%s", name);
      if (path != NULL) snprintf(file, filesize, "%s", path);
    }
  }
  pthread_mutex_unlock(&lock);
}
