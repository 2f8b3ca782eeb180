/* SPDX-License-Identifier: MIT */
/* Finds targets of indirect functions (indirect.h). Reads the symbols in memory, because the
   library's file may have been replaced. */
#define _GNU_SOURCE
#include "indirect.h"
#include "list.h"

#include <elf.h>
#include <fenv.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* Largest distance in bytes from the start of a target to the start of one of its parts: the unwind
   table may divide one function, such as an implementation of memcpy, into several parts. */
#define MAX_ENTRY_DISTANCE	256

typedef struct Target {
  uint64_t start;
  const char *name;
  int weak;
} Target;

static Target *targets;  /* targets of indirect functions, sorted by 'start'; each address is in the
                            list once */
static size_t ntargets, targetsize;

/* The symbol table of a loaded library, found by its dynamic section. */
typedef struct Library {
  uintptr_t base;
  const ElfW(Sym) *symbols;
  const char *strings;
  size_t n;			/* number of symbols */
} Library;

/* Returns the number of symbols of a library. No header of the file contains this number, so it is
   computed as 1 + the largest symbol index in the GNU hash table 'hash'. */
static size_t countsymbols (const uint32_t *hash) {
  uint32_t nbuckets = hash[0], first = hash[1], words = hash[2], last = 0, i;
  const uint32_t *buckets = hash + 4 + words * (sizeof(ElfW(Addr)) / 4);
  const uint32_t *chain = buckets + nbuckets;
  for (i = 0; i < nbuckets; i++)
    if (buckets[i] > last) last = buckets[i];
  if (last < first) return first;
  while (!(chain[last - first] & 1)) last++;
  return last + (size_t)1;
}

/* Converts an entry of the dynamic section to an address. Some entries are offsets from l->base,
   others were converted by the loader already. */
static const void *pointer (const Library *l, ElfW(Addr) a) {
  return (const void *)((a < l->base) ? l->base + a : a);
}

static int isin (const struct dl_phdr_info *info, const void *address) {
  uintptr_t offset = (uintptr_t)address - info->dlpi_addr;
  int i;
  for (i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type == PT_LOAD && offset - p->p_vaddr < p->p_memsz) return 1;
  }
  return 0;
}

/* Sets *l to the symbol table of a loaded library. Returns 0 if the library's dynamic section lacks
   the symbols, the strings or the GNU hash table. */
static int readlibrary (Library *l, const struct dl_phdr_info *info) {
  const ElfW(Dyn) *d = NULL;
  int i;
  memset(l, 0, sizeof(*l));
  l->base = info->dlpi_addr;
  for (i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      d = (const ElfW(Dyn) *)(l->base + info->dlpi_phdr[i].p_vaddr);
  for (; d != NULL && d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_SYMTAB) l->symbols = pointer(l, d->d_un.d_ptr);
    else if (d->d_tag == DT_STRTAB) l->strings = pointer(l, d->d_un.d_ptr);
    else if (d->d_tag == DT_GNU_HASH)
      l->n = countsymbols(pointer(l, d->d_un.d_ptr));
  }
  return l->symbols != NULL && l->strings != NULL && l->n > 0;
}

/* Calls the resolver of an indirect function (STT_GNU_IFUNC) with the same arguments as the loader.
   Returns the address of the target that it selects. */
static uint64_t choose (uintptr_t function) {
#if defined(__x86_64__)
  return ((uint64_t (*)(void))function)();
#elif defined(__aarch64__)
  uint64_t more[3] = {sizeof(more), getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
  return ((uint64_t (*)(uint64_t, const uint64_t *))function)(
      more[1] | UINT64_C(1) << 62, more);
#else
  (void)function;
  return 0;
#endif
}

static void indirect_add (const char *name, uint64_t start, int weak) {
  if (!list_grow(&targets, ntargets, &targetsize, sizeof(*targets))) return;
  targets[ntargets].name = name;
  targets[ntargets].start = start;
  targets[ntargets++].weak = weak;
}

static int readsymbols (struct dl_phdr_info *info, size_t size, void *ud) {
  Library l;
  size_t i;
  (void)size; (void)ud;
  if ((!isin(info, (const void *)gnu_get_libc_version) &&
       !isin(info, (const void *)fegetround)) || !readlibrary(&l, info)) return 0;
  for (i = 0; i < l.n; i++) {
    const ElfW(Sym) *s = &l.symbols[i];
    if (ELF64_ST_TYPE(s->st_info) == STT_GNU_IFUNC && s->st_shndx != SHN_UNDEF)
      indirect_add(l.strings + s->st_name, choose(l.base + s->st_value),
                   ELF64_ST_BIND(s->st_info) == STB_WEAK);
  }
  return 0;
}

/* Comparison function of qsort: orders targets by address. If a target has several names, the first
   of them is the one that indirect_name returns (memcpy before __memcpy). */
static int indirect_before (const void *x, const void *y) {
  const Target *a = x, *b = y;
  int inner = (*a->name == '_') - (*b->name == '_');
  size_t n = strlen(a->name), m = strlen(b->name);
  if (a->start != b->start) return (a->start < b->start) ? -1 : 1;
  if (inner != 0) return inner;
  if (a->weak != b->weak) return a->weak - b->weak;
  return (n != m) ? ((n < m) ? -1 : 1) : strcmp(a->name, b->name);
}

static void readtargets (void) {
  size_t i, n = 0;
  dl_iterate_phdr(readsymbols, NULL);
  if (ntargets > 0) qsort(targets, ntargets, sizeof(*targets), indirect_before);
  for (i = 0; i < ntargets; i++)
    if (n == 0 || targets[i].start != targets[n - 1].start) targets[n++] = targets[i];
  ntargets = n;
}

const char *indirect_name (uint64_t start, int near) {
  static int known;
  size_t low = 0, high;
  if (!known) readtargets();
  known = 1;
  for (high = ntargets; low < high;) {  /* sets 'low' to the first target above 'start' */
    size_t middle = low + (high - low) / 2;
    if (targets[middle].start <= start) low = middle + 1;
    else high = middle;
  }
  if (low == 0 || start - targets[low - 1].start > (near ? MAX_ENTRY_DISTANCE : 0)) return NULL;
  return targets[low - 1].name;
}
