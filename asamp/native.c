/* SPDX-License-Identifier: MIT */
/*
** Names of native addresses (native.h).
*/
#define _GNU_SOURCE
#include "native.h"

#include <elfutils/libdwfl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Dwfl *session;		/* of the objects loaded at 'loads' */
static unsigned long long loads;	/* dlopens the process had done then */


/* Separate debug files are not looked for: symbol tables are enough. */
static int nodebuginfo (Dwfl_Module *mod, void **ud, const char *name,
                        Dwarf_Addr base, const char *file, const char *link,
                        GElf_Word crc, char **path) {
  (void)mod; (void)ud; (void)name; (void)base;
  (void)file; (void)link; (void)crc; (void)path;
  return -1;
}


static const Dwfl_Callbacks callbacks = {
  .find_elf = dwfl_linux_proc_find_elf,
  .find_debuginfo = nodebuginfo,
};


static int countloads (struct dl_phdr_info *info, size_t size, void *ud) {
  (void)size;
  *(unsigned long long *)ud = info->dlpi_adds;
  return 1;
}


/* The session for what is loaded now; NULL when there is none to be had. */
static Dwfl *current (void) {
  unsigned long long now = 0;
  dl_iterate_phdr(countloads, &now);
  if (session != NULL && loads == now) return session;
  if (session != NULL) dwfl_end(session);
  session = dwfl_begin(&callbacks);
  if (session != NULL && (dwfl_linux_proc_report(session, getpid()) != 0 ||
                          dwfl_report_end(session, NULL, NULL) != 0)) {
    dwfl_end(session);
    session = NULL;
  }
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
  pthread_atfork(beforefork, afterfork, afterfork);  /* N2 */
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
