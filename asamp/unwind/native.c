/* SPDX-License-Identifier: MIT */
/* Finds names and frames of native addresses (native.h). */
#define _GNU_SOURCE
#include "native.h"
#include "clock.h"
#include "maps.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codefile.h"
#include "indirect.h"
#include "registered.h"
#include "symbols.h"
#include "threadlocals.h"

/* An object file that was read for 'session', with its debug file. */
typedef struct Image {
  struct Image *next;
  SymbolFile file, debug;
  Elf *names;			/* libelf's data of the debug file; NULL: no debug file, or not
                                   searched yet */
  int searched;	/* 1: a search for the debug file was made */
} Image;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Dwfl *session;		/* libdwfl's data about the object files that were loaded when the
                                   session was made; NULL: none */
static unsigned long long loads;	/* number of files that the loader had ever loaded
                                           when 'session' was made */
static unsigned nsessions;
static int starved;		/* 1: the next lookup makes a new session, because 'session' may
                                   lack an object file: the file was loaded later, or memory ran
                                   out */
static uint64_t started;		/* time at which 'session' was made, s */
static Image *images;		/* linked list of the object files that findelf has read into memory
                                   for 'session' */

/* Callback of libdwfl that searches the debug file of a module. Always fails, because the function
   debugname finds that file. */
static int nodebuginfo (Dwfl_Module *mod, void **ud, const char *name,
                        Dwarf_Addr base, const char *file, const char *link,
                        GElf_Word crc, char **path) {
  (void)mod; (void)ud; (void)name; (void)base;
  (void)file; (void)link; (void)crc; (void)path;
  return -1;
}

/* Copies the object that the kernel maps into each process (vDSO), which has no file. Returns 0 if
   the module is not this object, or if out of memory. */
static int mapkernel (SymbolFile *f, Dwfl_Module *mod) {
  Dwarf_Addr start = 0, end = 0;
  dwfl_module_info(mod, NULL, &start, &end, NULL, NULL, NULL, NULL);
  if (start == 0 || start != getauxval(AT_SYSINFO_EHDR)) return 0;
  f->size = (size_t)(end - start);
  f->data = mmap(NULL, f->size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (f->data == MAP_FAILED) return 0;
  memcpy(f->data, (const void *)(uintptr_t)start, f->size);
  return 1;
}

/* Callback of libdwfl that opens a module's object file. Passes the file's contents in memory,
   because libdwfl would keep the file open (NA3). If out of memory, lets the next lookup make a new
   session. */
static int findelf (Dwfl_Module *mod, void **ud, const char *name,
                    Dwarf_Addr base, char **file, Elf **elf) {
  Image *image = calloc(1, sizeof(*image));
  (void)base;
  errno = 0;
  if (image == NULL) {
    starved = 1;
    return -1;
  }
  if (!(name[0] == '/' ? symbols_map(&image->file, name)
                       : mapkernel(&image->file, mod))) {
    starved |= (errno == ENOMEM);
    free(image);
    return -1;
  }
  image->next = images;
  images = image;
  *ud = image;
  *elf = elf_memory(image->file.data, image->file.size);
  if (name[0] == '/') *file = strdup(name);
  return -1;
}

static const Dwfl_Callbacks callbacks = {
  .find_elf = findelf,
  .find_debuginfo = nodebuginfo,
};

static void native_end (void) {
  dwfl_end(session);
  session = NULL;
  while (images != NULL) {
    Image *image = images;
    images = image->next;
    elf_end(image->names);
    symbols_unmap(&image->debug);
    symbols_unmap(&image->file);
    free(image);
  }
}

/* Reports the files in the list of mappings to libdwfl. Mappings of the same file, without a
   mapping of another file between them, are one object file. Returns 0 on failure. */
static int reportmaps (Dwfl *s, Maps *m) {
  char last[PATH_MAX + 128] = "";
  uint64_t low = 0, high = 0;
  while (maps_next(m)) {
    if (m->inode == 0 && strcmp(m->name, "[vdso]") != 0) continue;
    if (strcmp(m->name, last) != 0) {
      if (*last != '\0' && dwfl_report_module(s, last, low, high) == NULL) return 0;
      snprintf(last, sizeof(last), "%s", m->name);
      low = m->from;
    }
    high = m->to;
  }
  return *last == '\0' || dwfl_report_module(s, last, low, high) != NULL;
}

typedef struct Listed {
  Dwfl *session;
  int n;
} Listed;

/* Callback that reports an object file of the loader's list to libdwfl. The first element of the
   list is the program itself; its name in the list is empty. */
static int reportloaded (struct dl_phdr_info *info, size_t size, void *ud) {
  Listed *to = ud;
  const char *name = info->dlpi_name;
  uint64_t from = UINT64_MAX, end = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
  int i;
  (void)size;
  for (i = 0; i < info->dlpi_phnum; i++) {
    const uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    if (start < from) from = start;
    if (start + info->dlpi_phdr[i].p_memsz > end) end = start + info->dlpi_phdr[i].p_memsz;
  }
  if (name == NULL || *name == '\0')
    name = (to->n == 0) ? (const char *)(uintptr_t)getauxval(AT_EXECFN) : NULL;
  if (from < end && from == getauxval(AT_SYSINFO_EHDR)) name = "[vdso]";
  if (from < end && name != NULL)
    (void)dwfl_report_module(to->session, name, from / page * page,
                             (end + page - 1) / page * page);
  to->n++;
  return 0;
}

/* Reports the loaded object files to libdwfl: those in the list of mappings, or those in the
   loader's list if /proc is missing. Returns 0 on failure. */
static int report (Dwfl *s) {
  Listed listed = {s, 0};
  Maps m;
  int ok;
  dwfl_report_begin(s);
  ok = maps_open(&m) ? reportmaps(s, &m) : dl_iterate_phdr(reportloaded, &listed) == 0;
  maps_close(&m);
  return ok;
}

/* Returns libdwfl's session for the object files that are loaded now. Makes a new session if there
   is none, if the loader has loaded files since the session was made, or if 'starved' is 1. Returns
   NULL on failure. */
static Dwfl *native_current (void) {
  unsigned long long now[2];
  loaded_counts(now);
  if (session != NULL && loads == now[0] && !starved) return session;
  native_end();
  starved = 0;
  session = dwfl_begin(&callbacks);
  if (session != NULL && (!report(session) || dwfl_report_end(session, NULL, NULL) != 0))
    native_end();
  loads = now[0];
  nsessions++;
  started = clock_now() / 1000000000;
  return session;
}

static void beforefork (void) {
  pthread_mutex_lock(&lock);
}

static void afterfork (void) {
  pthread_mutex_unlock(&lock);
}

static void native_once (void) {
  elf_version(EV_CURRENT);
  pthread_atfork(beforefork, afterfork, afterfork);  /* a fork waits for a running lookup (NA2) */
}

/* Makes the loader allocate the thread-local variables of libdw and libelf before a lookup uses
   them (threadlocals.h). Returns 0 if there is not enough memory for them. */
static int native_isready (void) {
  static __thread int ready __attribute__((tls_model("initial-exec")));
  if (!ready && threadlocals_room()) {
    (void)dwfl_errno();
    (void)elf_errno();
    ready = 1;
  }
  return ready;
}

typedef struct Search {
  uint64_t address;
  Dwfl_Module *found;
} Search;

/* Callback for each module (object file) of the session. Stops at the module whose mappings contain
   the address, and sets search->found to this module if the address is in its code. */
static int native_visit (Dwfl_Module *mod, void **ud, const char *name, Dwarf_Addr start,
                         void *arg) {
  Search *search = arg;
  Dwarf_Addr end = 0;
  GElf_Addr bias;
  Elf *elf;
  (void)ud; (void)name;
  dwfl_module_info(mod, NULL, NULL, &end, NULL, NULL, NULL, NULL);
  if (search->address < start || search->address >= end) return DWARF_CB_OK;
  elf = dwfl_module_getelf(mod, &bias);
  /* libdwfl also counts an adjacent mapping as part of the object file; an address in such a
     mapping is not code of the file */
  if (elf != NULL && symbols_iscode(elf, search->address - bias)) search->found = mod;
  return DWARF_CB_ABORT;
}

/* Returns the session's module that has the address, or NULL. Does not call dwfl_addrmodule, which
   uses a freed block after one of its calls has run out of memory; visits all modules instead. */
static Dwfl_Module *moduleof (uint64_t address) {
  Search search = {address, NULL};
  if (native_isready() && native_current() != NULL)
    dwfl_getmodules(session, native_visit, &search, 0);
  return search.found;
}

/* Takes the lock, which the caller must release. Returns the module of libdwfl that has 'address',
   or NULL. If no module has it, first reads the list of object files again, unless the list is less
   than 1 to 2 s old. */
static Dwfl_Module *lockmodule (uint64_t address) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  Dwfl_Module *mod;
  pthread_once(&control, native_once);
  pthread_mutex_lock(&lock);
  mod = moduleof(address);
  if (mod == NULL && clock_now() / 1000000000 > started + 1) {
    starved = 1;
    mod = moduleof(address);
  }
  return mod;
}


/* Returns the name of the symbol that covers the address, or NULL. If symbols_name finds no name,
   and the file has symbols without a size or in .gnu_debugdata, searches them with libdw, which
   takes 30 times as long. Ignores arm's mapping symbols "$x" and "$d", which mark where code and
   data start. */
static const char *symbolname (Dwfl_Module *mod, Elf *elf, uint64_t bias, uint64_t address) {
  const char *name = symbols_name(elf, address - bias);
  int mapping;
  if (name == NULL && symbols_hasmore(elf, address - bias))
    name = dwfl_module_addrname(mod, address);
  mapping = (name != NULL && name[0] == '$' && name[1] != '\0' &&
             strchr("adtx", name[1]) != NULL && (name[2] == '\0' || name[2] == '.'));
  return mapping ? NULL : name;
}


/* Returns the name of the code at 'address' in the module's debug file, or NULL. Searches and maps
   the debug file at the first call. */
static const char *debugname (Dwfl_Module *mod, Image *image, uint64_t address) {
  const unsigned char *id;
  GElf_Addr where;
  int n;
  if (!image->searched && (n = dwfl_module_build_id(mod, &id, &where)) > 0 &&
      symbols_debugfile(&image->debug, id, (size_t)n))
    image->names = elf_memory(image->debug.data, image->debug.size);
  image->searched = 1;
  return (image->names != NULL) ? symbols_name(image->names, address) : NULL;
}

/* Writes 'name'. If 'name' is NULL, writes the last component of 'path' and the address 'at', such
   as "libc.so.6+0x27200". */
static void putname (char *symbol, size_t size, const char *name, const char *path, uint64_t at) {
  const char *base = strrchr(path, '/');
  if (name != NULL) snprintf(symbol, size, "%s", name);
  else snprintf(symbol, size, "%s+0x%llx", (base != NULL) ? base + 1 : path,
                (unsigned long long)at);
}

/* Writes the name of the function with the id 'id' of a module. If the function is an
   implementation of an indirect function such as memcpy (indirect.h), writes the public name.
   If the function has no name, writes the file's name and the address of the function's start in
   the file. Writes the file's path to 'file'. */
static void modulename (Dwfl_Module *mod, uint64_t id, char *symbol, size_t symbolsize, char *file,
                        size_t filesize) {
  const uint64_t address = id & CODEFILE_ADDRESS;
  GElf_Addr bias;
  void **ud = NULL;
  Elf *elf = dwfl_module_getelf(mod, &bias);
  const char *path = NULL;
  const char *modname = dwfl_module_info(mod, &ud, NULL, NULL, NULL, NULL, &path, NULL);
  Image *image = *ud;  /* not NULL: findelf has set *ud when it opened the file */
  uint64_t start = symbols_start(elf, address - bias);
  const char *name = indirect_name(start + bias, 0);
  if (name == NULL) name = symbolname(mod, elf, bias, address);
  if (name == NULL) name = debugname(mod, image, address - bias);
  if (name == NULL) name = registered_name(id - address + bias + start);
  if (name == NULL) name = indirect_name(start + bias, 1);
  putname(symbol, symbolsize, name, (path != NULL) ? path : modname, start);
  if (path != NULL) snprintf(file, filesize, "%s", path);
}

/* Stores path, device and inode of a module's file in *of, unless of->noted is 1. 'mod' NULL: the
   path stays NULL (unknown). The caller must hold the lock. */
static void note (CodeFile *of, Dwfl_Module *mod) {
  void **ud = NULL;
  const char *path = NULL;
  if (of->noted) return;
  if (mod != NULL) dwfl_module_info(mod, &ud, NULL, NULL, NULL, NULL, &path, NULL);
  if (path != NULL) {
    const Image *image = *ud;
    of->device = image->file.device;
    of->inode = image->file.inode;
    of->path = strdup(path);
  }
  __atomic_store_n(&of->noted, 1, __ATOMIC_RELEASE);
}

uint64_t native_id (const void *address) {
  const uint64_t id = codefile_id(address);
  CodeFile *of = codefile_of(id);
  if (of != NULL && !__atomic_load_n(&of->noted, __ATOMIC_ACQUIRE)) {
    note(of, lockmodule((uintptr_t)address));
    pthread_mutex_unlock(&lock);
  }
  return id;
}

/* Writes the name of the function with the id 'id' in an unloaded object file, and the file's path.
   Writes nothing if the file has no code at the address, or if another file has its path now. An
   unloaded file is a shared library, in which addresses start at 0. */
static void unloadedname (const CodeFile *of, uint64_t id, char *symbol, size_t symbolsize,
                          char *file, size_t filesize) {
  const uint64_t at = (id & CODEFILE_ADDRESS) - (uintptr_t)of->at.from;
  SymbolFile f;
  Elf *elf = symbols_map(&f, of->path) ? elf_memory(f.data, f.size) : NULL;
  if (elf != NULL && f.device == of->device && f.inode == of->inode && symbols_iscode(elf, at)) {
    const uint64_t start = symbols_start(elf, at);
    const char *name = symbols_name(elf, at);
    if (name == NULL) name = registered_name(id - at + start);
    putname(symbol, symbolsize, name, of->path, start);
    snprintf(file, filesize, "%s", of->path);
  }
  elf_end(elf);
  symbols_unmap(&f);
}

void native_name (void *ud, uint64_t id, char *symbol, size_t symbolsize,
                  char *file, size_t filesize) {
  const uint64_t address = id & CODEFILE_ADDRESS;
  const int iscurrent = codefile_id((const void *)(uintptr_t)address) == id;
  CodeFile *of = codefile_of(id);
  Dwfl_Module *mod = lockmodule(address);
  (void)ud;
  *symbol = *file = '\0';
  if (of != NULL && iscurrent) note(of, mod);
  if (mod != NULL && (of == NULL || iscurrent))
    modulename(mod, id, symbol, symbolsize, file, filesize);
  else if (of != NULL && of->path != NULL && native_isready())
    unloadedname(of, id, symbol, symbolsize, file, filesize);
  pthread_mutex_unlock(&lock);
}

#if defined(__x86_64__) || defined(__aarch64__)

/* FP, SP, RETURN: DWARF numbers of the registers with frame pointer, stack pointer and return
   address. RETURNAT(fp): offset at which the return address is stored if the frame pointer is saved
   at the offset 'fp'. The offsets are in bytes from the start of the caller's frame. */
#if defined(__x86_64__)
enum { FP = 6, SP = 7, RETURN = 16 };
#define RETURNAT(fp)	(-8)
#else
enum { FP = 29, SP = 31, RETURN = 30 };
/* one instruction (stp) stores frame pointer and return address, the latter at the higher
   address */
#define RETURNAT(fp)	((fp) + 8)
#endif

/* Finds where the caller's value of a register is. Returns
   1   if the value is in memory, *at bytes from the start of the caller's frame
   0   with *at 0 if the value is still in the register; with *at 1 if the value is undefined
   -1  in other cases */
static int savedat (Dwarf_Frame *frame, int reg, Dwarf_Sword *at) {
  Dwarf_Op room[3], *ops;
  size_t n;
  *at = 0;
  if (dwarf_frame_register(frame, reg, room, &ops, &n) != 0) return -1;
  if (n == 0) {
    *at = (ops != NULL);
    return 0;
  }
  *at = (Dwarf_Sword)ops[n - 1].number;
  return (n <= 2 && ops[0].atom == DW_OP_call_frame_cfa &&
          (n == 1 || ops[1].atom == DW_OP_plus_uconst)) ? 1 : -1;
}

/* Converts the description of a frame in the unwind tables to a NativeFrame. If that is impossible,
   f->base stays NATIVE_OTHER. */
static void frameof (Dwarf_Frame *frame, NativeFrame *f) {
  Dwarf_Sword at, size, returnat;
  Dwarf_Op *ops;
  size_t n;
  bool signal = true;
  int saved;
  if (dwarf_frame_info(frame, NULL, NULL, &signal) != RETURN || signal) return;
  saved = savedat(frame, RETURN, &returnat);
  if (saved == 0 && returnat != 0) f->base = NATIVE_OUTERMOST;
  if (saved != 1) return;
  saved = savedat(frame, FP, &at);
  if (returnat != RETURNAT(at)) return;
  if (saved < 0 || (at < 0) != (saved == 1) || at < INT16_MIN) return;
  if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n != 1 ||
      ops[0].atom != DW_OP_bregx) return;
  size = (Dwarf_Sword)ops[0].number2;
  if (size < 8 || size > INT32_MAX) return;
  f->size = (int32_t)size;
  f->saved = (saved == 1) ? (int16_t)at : 0;
  if (ops[0].number == SP) f->base = NATIVE_SP;
  else if (ops[0].number == FP) f->base = NATIVE_FP;
}

/* Stores in *f how to leave the frame of the code at 'address', according to the unwind tables.
   Does not change *f if 'tables' is NULL or has no entry for the address. */
static void lookup (Dwarf_CFI *tables, Dwarf_Addr address, NativeFrame *f) {
  Dwarf_Frame *frame = NULL;
  if (tables == NULL || dwarf_cfi_addrframe(tables, address, &frame) != 0) return;
  frameof(frame, f);
  free(frame);
}

#else
#define lookup(tables,address,f)	((void)(tables))
#endif

unsigned native_frame (uint64_t address, NativeFrame *f) {
  Dwfl_Module *mod = lockmodule(address);
  Dwarf_Addr bias = 0;
  Dwarf_CFI *tables = (mod != NULL) ? dwfl_module_eh_cfi(mod, &bias) : NULL;
  unsigned n = nsessions;
  memset(f, 0, sizeof(*f));
  lookup(tables, address - bias, f);
  pthread_mutex_unlock(&lock);
  return n;
}
