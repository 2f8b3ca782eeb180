/* SPDX-License-Identifier: MIT */
/* Finds names and frames of native addresses (native.h). */
#define _GNU_SOURCE
#include "native.h"
#include "clock.h"
#include "descriptor.h"

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

#include "indirect.h"
#include "registered.h"
#include "symbols.h"
#include "threadlocals.h"

/* An object file that was read for the current session of libdwfl, with its debug file. */
typedef struct Image {
  struct Image *next;
  SymbolFile file, debug;
  Elf *names;			/* the debug file as libelf's data; NULL: no such file, or not read
                                   yet */
  int searched;	/* 1: the debug file has been searched for */
} Image;

/* An object file of an earlier session of libdwfl. A host that makes a Lua state for each request
   may unload such a file before the names of its functions are looked up. */
typedef struct Gone {
  /* from, to: range of addresses at which the file was loaded. bias: difference between an address
     in memory and the address in the file. */
  uint64_t from, to, bias;
  uint64_t turn;	/* number that shows the order in which files were remembered; 0: unused
                           element */
  dev_t device;
  ino_t inode;
  char *path;
} Gone;

#define GONE_MOST	1024u	/* largest number of remembered object files */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Gone gone[GONE_MOST];
static uint64_t turns;		/* largest Gone.turn */
static Dwfl *session;		/* libdwfl's data about the object files that were loaded when the
                                   session was made; NULL: none */
static unsigned long long loads;	/* value of dlpi_adds (files ever loaded by the loader) when
                                           'session' was made */
static unsigned nsessions;
static int starved;		/* 1: the next lookup makes a new session, because this one may lack
                                   an object file: the file was loaded later, or memory ran out */
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

static int countloads (struct dl_phdr_info *info, size_t size, void *ud) {
  (void)size;
  *(unsigned long long *)ud = info->dlpi_adds;
  return 1;
}

/* Returns the element of 'gone' in which to remember an object file: the element with the same file
   at the same address, or else the oldest one. */
static Gone *goneof (uint64_t from, const char *path) {
  Gone *oldest = &gone[0];
  unsigned i;
  for (i = 0; i < GONE_MOST; i++) {
    Gone *g = &gone[i];
    if (g->turn > 0 && g->from == from && strcmp(g->path, path) == 0) return g;
    if (g->turn < oldest->turn) oldest = g;
  }
  return oldest;
}


/* Callback for each module (object file) of a session that ends. Remembers the file in 'gone' if
   its data were read. */
static int note (Dwfl_Module *mod, void **ud, const char *name, Dwarf_Addr start, void *arg) {
  Image *image = *ud;
  GElf_Addr bias;
  const char *path = NULL;
  Dwarf_Addr end = 0;
  char *copy;
  Gone *g;
  (void)name; (void)arg;
  dwfl_module_info(mod, NULL, NULL, &end, NULL, NULL, &path, NULL);
  if (image == NULL || path == NULL ||
      dwfl_module_getelf(mod, &bias) == NULL || (copy = strdup(path)) == NULL)
    return DWARF_CB_OK;
  g = goneof(start, path);
  free(g->path);
  g->from = start;
  g->to = end;
  g->bias = bias;
  g->path = copy;
  g->turn = ++turns;
  g->device = image->file.device;
  g->inode = image->file.inode;
  return DWARF_CB_OK;
}

static void native_end (void) {
  if (session != NULL) dwfl_getmodules(session, note, NULL, 0);
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

/* Looks up an address in a remembered object file. Writes the name of the function to 'symbol'
   (file name and offset if the function has no name), and the file's path to 'file'. Returns 0 if
   the file has no code at the address, or if another file has replaced it. */
static int nameof (const Gone *g, uint64_t address, char *symbol, size_t symbolsize, char *file,
                   size_t filesize) {
  const uint64_t at = address - g->bias;
  SymbolFile f;
  Elf *elf = symbols_map(&f, g->path) ? elf_memory(f.data, f.size) : NULL;
  int is = elf != NULL && f.device == g->device && f.inode == g->inode && symbols_iscode(elf, at);
  if (is) {
    const char *name = symbols_name(elf, at), *base = strrchr(g->path, '/');
    if (name != NULL) snprintf(symbol, symbolsize, "%s", name);
    else snprintf(symbol, symbolsize, "%s+0x%llx", base != NULL ? base + 1 : g->path,
                  (unsigned long long)symbols_start(elf, at));
    snprintf(file, filesize, "%s", g->path);
  }
  elf_end(elf);
  symbols_unmap(&f);
  return is;
}


/* Looks up an address in the object files that earlier sessions of libdwfl had read, and which may
   be unloaded now (the list 'gone'). Starts with the file remembered last. If none has code at the
   address, leaves 'symbol' and 'file' unchanged. */
static void gonename (uint64_t address, char *symbol, size_t symbolsize, char *file,
                      size_t filesize) {
  uint64_t before = UINT64_MAX;
  const Gone *g;
  do {
    unsigned i;
    g = NULL;
    for (i = 0; i < GONE_MOST; i++) {
      const Gone *o = &gone[i];
      if (o->from <= address && address < o->to && o->turn < before &&
          (g == NULL || g->turn < o->turn))
        g = o;
    }
    if (g != NULL) before = g->turn;
  } while (g != NULL && !nameof(g, address, symbol, symbolsize, file, filesize));
}

/* Parses a line "from-to rights offset device inode path" of the list of mappings. Returns the
   path, or "[vdso]" for the vDSO; NULL: the mapping is of no file. libdwfl would use sscanf, which
   takes five times as long. */
static const char *native_mapping (char *line, uint64_t *from, uint64_t *to) {
  char *end;
  int field;
  line[strcspn(line, "\n")] = '\0';
  *from = strtoull(line, &end, 16);
  *to = (*end == '-') ? strtoull(end + 1, &end, 16) : 0;
  for (field = 0; field < 3; field++) {
    end += strspn(end, " ");
    end += strcspn(end, " ");
  }
  if (strtoull(end, &end, 10) == 0)
    return (*from != 0 && *from == getauxval(AT_SYSINFO_EHDR)) ? "[vdso]" : NULL;
  return end + strspn(end, " ");
}

/* Reports the files in the list of mappings to libdwfl. Mappings of the same file, with no other
   file between them, are one object. Returns 0 on failure. */
static int reportmaps (Dwfl *s, FILE *maps) {
  char line[PATH_MAX + 128], last[PATH_MAX + 128] = "";
  uint64_t from, to, low = 0, high = 0;
  while (fgets(line, sizeof(line), maps) != NULL) {
    const char *path = native_mapping(line, &from, &to);
    if (path == NULL) continue;
    if (strcmp(path, last) != 0) {
      if (*last != '\0' && dwfl_report_module(s, last, low, high) == NULL) return 0;
      strcpy(last, path);
      low = from;
    }
    high = to;
  }
  return *last == '\0' || dwfl_report_module(s, last, low, high) != NULL;
}

typedef struct Loaded {
  Dwfl *session;
  int n;
} Loaded;

/* Callback that reports an object of the loader's list to libdwfl. The program itself is the first
   object and has no name. */
static int reportloaded (struct dl_phdr_info *info, size_t size, void *ud) {
  Loaded *to = ud;
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

/* Reports the loaded objects to libdwfl: the files in the list of mappings, or the loader's list if
   /proc is missing. Returns 0 on failure. */
static int report (Dwfl *s) {
  Loaded loaded = {s, 0};
  FILE *maps = fopen("/proc/self/maps", "re");
  int ok;
  dwfl_report_begin(s);
  if (maps == NULL) return dl_iterate_phdr(reportloaded, &loaded) == 0;
  ok = reportmaps(s, maps);
  fclose(maps);
  return ok;
}

/* Returns libdwfl's session for the objects that are loaded now. Makes a new session if there is
   none, if the loader has loaded files since the session was made, or if 'starved' is 1. Returns
   NULL on failure. */
static Dwfl *native_current (void) {
  unsigned long long now = 0;
  dl_iterate_phdr(countloads, &now);
  if (session != NULL && loads == now && !starved) return session;
  native_end();
  starved = 0;
  session = dwfl_begin(&callbacks);
  descriptor_hold();  /* 'report' opens a file, which must not get the number of a closed standard
                         stream */
  if (session != NULL && (!report(session) || dwfl_report_end(session, NULL, NULL) != 0))
    native_end();
  descriptor_release();
  loads = now;
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
  /* libdwfl also counts an adjacent mapping as part of the object; an address in it is not code of
     the object */
  if (elf != NULL && symbols_iscode(elf, search->address - bias)) search->found = mod;
  return DWARF_CB_ABORT;
}

/* Returns the session's module that has the address, or NULL. Visits all modules itself, because
   dwfl_addrmodule uses a freed block if it has once run out of memory. */
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
   and the file has symbols without a size or in .gnu_debugdata, searches them with libdw. That
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

/* Writes the name of the function at 'address' of a module. If the function is an implementation of
   an indirect function such as memcpy (indirect.h), writes the public name. If the function has no
   name, writes the file's name and the offset of the function's start. */
static void modulename (Dwfl_Module *mod, uint64_t address, const char *path, char *symbol,
                        size_t size) {
  GElf_Addr bias;
  void **ud = NULL;
  Elf *elf = dwfl_module_getelf(mod, &bias);
  const char *modname = dwfl_module_info(mod, &ud, NULL, NULL, NULL, NULL, NULL, NULL);
  Image *image = *ud;  /* not NULL: findelf has set it when it opened the file */
  uint64_t start = symbols_start(elf, address - bias);
  const char *name = indirect_name(start + bias, 0);
  if (name == NULL) name = symbolname(mod, elf, bias, address);
  if (name == NULL) name = debugname(mod, image, address - bias);
  if (name == NULL) name = registered_name((const void *)(uintptr_t)(start + bias));
  if (name == NULL) name = indirect_name(start + bias, 1);
  if (name != NULL) snprintf(symbol, size, "%s", name);
  else {
    const char *base = (path != NULL) ? path : modname;
    if (strrchr(base, '/') != NULL) base = strrchr(base, '/') + 1;
    snprintf(symbol, size, "%s+0x%llx", base, (unsigned long long)start);
  }
}

void native_name (void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize) {
  Dwfl_Module *mod = lockmodule(address);
  (void)ud;
  *symbol = *file = '\0';
  if (mod != NULL) {
    const char *path = NULL;
    dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, &path, NULL);
    modulename(mod, address, path, symbol, symbolsize);
    if (path != NULL) snprintf(file, filesize, "%s", path);
  }
  else if (native_isready()) gonename(address, symbol, symbolsize, file, filesize);
  pthread_mutex_unlock(&lock);
}

#if defined(__x86_64__) || defined(__aarch64__)

/* FP, SP, RETURN: DWARF numbers of the registers with frame pointer, stack pointer and return
   address. RETURNAT(fp): where the return address is stored if the frame pointer is saved at 'fp'.
   Both are offsets in bytes from the start of the caller's frame. */
#if defined(__x86_64__)
enum { FP = 6, SP = 7, RETURN = 16 };
#define RETURNAT(fp)	(-8)
#else
enum { FP = 29, SP = 31, RETURN = 30 };
/* one instruction (stp) stores frame pointer and return address, the latter at the higher
   address */
#define RETURNAT(fp)	((fp) + 8)
#endif

/* Finds the caller's value of a register. Returns
   1   if the value is in memory, *at bytes from the start of the caller's frame
   0   with *at 0 if it is still in the register, with *at 1 if it is undefined
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
