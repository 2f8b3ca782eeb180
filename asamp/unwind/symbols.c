/* SPDX-License-Identifier: MIT */
/* Reads debug files and starts of functions (symbols.h). */
#define _GNU_SOURCE
#include "symbols.h"
#include "descriptor.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int symbols_map (SymbolFile *f, const char *path) {
  struct stat s;
  int fd;
  f->data = NULL;
  if (stat(path, &s) != 0 || !S_ISREG(s.st_mode) || s.st_size == 0) return 0;
  if ((fd = descriptor_open(path, O_RDONLY, 0)) < 0) return 0;
  f->size = (size_t)s.st_size;
  f->device = s.st_dev;
  f->inode = s.st_ino;
  f->data = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  close(fd);
  if (f->data == MAP_FAILED) f->data = NULL;
  return f->data != NULL;
}

void symbols_unmap (SymbolFile *f) {
  if (f->data != NULL) munmap(f->data, f->size);
  f->data = NULL;
}

int symbols_debugfile (SymbolFile *f, const unsigned char *id, size_t n) {
  char path[sizeof(SYMBOLS_DEBUGFILES) + 2 * 64 + 16];
  size_t i, used;
  f->data = NULL;
  if (n < 2 || n > 64) return 0;
  used = (size_t)sprintf(path, "%s/%02x/", SYMBOLS_DEBUGFILES, id[0]);
  for (i = 1; i < n; i++) used += (size_t)sprintf(path + used, "%02x", id[i]);
  strcpy(path + used, ".debug");
  return symbols_map(f, path);
}

int symbols_iscode (Elf *elf, uint64_t address) {
  size_t n, i;
  if (elf_getphdrnum(elf, &n) != 0) return 0;
  for (i = 0; i < n; i++) {
    GElf_Phdr p;
    if (gelf_getphdr(elf, (int)i, &p) != NULL && p.p_type == PT_LOAD &&
        (p.p_flags & PF_X) && address - p.p_vaddr < p.p_memsz) return 1;
  }
  return 0;
}

/* Returns the rank of a symbol's binding: 2 global, 1 weak, 0 local. If several symbols have the
   same start, the highest rank gives the name. */
static int symbols_rank (const GElf_Sym *s) {
  const int binding = GELF_ST_BIND(s->st_info);
  return (binding == STB_GLOBAL) ? 2 : (binding == STB_WEAK);
}

/* Returns 1 if *s is a function that contains the address, and is a better choice than *best: it
   starts at a higher address, or at the same address and its symbols_rank is higher. 'best' NULL:
   no choice yet. */
static int symbols_better (const GElf_Sym *s, const GElf_Sym *best, uint64_t address) {
  const int type = GELF_ST_TYPE(s->st_info);
  if (address - s->st_value >= s->st_size || s->st_shndx == SHN_UNDEF ||
      (type != STT_FUNC && type != STT_GNU_IFUNC)) return 0;
  return best == NULL || s->st_value > best->st_value ||
         (s->st_value == best->st_value && symbols_rank(s) > symbols_rank(best));
}

/* Returns the symbols of the next symbol table after *section; NULL: there is none. Sets *n to
   their number, *section to the table's section, and *head to the header of this section. */
static const GElf_Sym *nexttable (Elf *elf, Elf_Scn **section, GElf_Shdr *head, size_t *n) {
  while ((*section = elf_nextscn(elf, *section)) != NULL) {
    const Elf_Data *data;
    if (gelf_getshdr(*section, head) == NULL ||
        (head->sh_type != SHT_SYMTAB && head->sh_type != SHT_DYNSYM) ||
        (data = elf_getdata(*section, NULL)) == NULL || data->d_type != ELF_T_SYM ||
        data->d_buf == NULL) continue;
    *n = data->d_size / sizeof(GElf_Sym);
    return data->d_buf;
  }
  return NULL;
}

const char *symbols_name (Elf *elf, uint64_t address) {
  const GElf_Sym *best = NULL, *s;
  size_t names = 0, n;  /* 'names': index of the string section that has the name of *best */
  Elf_Scn *section = NULL;
  GElf_Shdr head;
  if (gelf_getclass(elf) != ELFCLASS64) return NULL;
  while ((s = nexttable(elf, &section, &head, &n)) != NULL)
    for (; n > 0; n--, s++) {
      if (!symbols_better(s, best, address)) continue;
      best = s;
      names = head.sh_link;
    }
  return (best != NULL) ? elf_strptr(elf, names, best->st_name) : NULL;
}

int symbols_hasmore (Elf *elf, uint64_t address) {
  Elf_Scn *section = NULL;
  GElf_Shdr head;
  const GElf_Sym *s;
  size_t names, n;
  if (gelf_getclass(elf) != ELFCLASS64 || elf_getshdrstrndx(elf, &names) != 0) return 1;
  while ((s = nexttable(elf, &section, &head, &n)) != NULL)
    for (; n > 0; n--, s++)
      if (s->st_shndx != SHN_UNDEF && (s->st_size == 0 ? s->st_value - 1 < address
                                                       : address - s->st_value < s->st_size))
        return 1;
  while ((section = elf_nextscn(elf, section)) != NULL) {
    const char *name = gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : "";
    if (name == NULL || strcmp(name, ".gnu_debugdata") == 0) return 1;
  }
  return 0;
}

/* The supported form of the head of .eh_frame_hdr (a sorted table of functions): version, encodings
   (DW_EH_PE_*), size in bytes. */
enum { VERSION = 1, COUNT_UDATA4 = 0x03, TABLE_DATAREL_SDATA4 = 0x3b, HEADSIZE = 12 };

static int64_t symbols_word (const unsigned char *p) {
  int32_t n;
  memcpy(&n, p, sizeof(n));
  return n;
}

/* Searches the sorted table of .eh_frame_hdr, which has n entries of 8 bytes. The first 4 bytes of
   an entry are the start of a function, relative to 'base'. Returns the highest start that is not
   above 'address', or 'address' if there is none. */
static uint64_t symbols_search (const unsigned char *table, size_t n, uint64_t base,
                                uint64_t address) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (base + (uint64_t)symbols_word(table + 8 * middle) <= address) low = middle + 1;
    else high = middle;
  }
  return (low > 0) ? base + (uint64_t)symbols_word(table + 8 * (low - 1)) : address;
}

uint64_t symbols_start (Elf *elf, uint64_t address) {
  size_t size, n, i;
  const char *file = elf_rawfile(elf, &size);
  if (file == NULL || elf_getphdrnum(elf, &n) != 0) return address;
  for (i = 0; i < n; i++) {
    GElf_Phdr p;
    if (gelf_getphdr(elf, (int)i, &p) != NULL && p.p_type == PT_GNU_EH_FRAME &&
        p.p_filesz >= HEADSIZE && p.p_offset <= size && p.p_filesz <= size - p.p_offset) {
      const unsigned char *head = (const unsigned char *)file + p.p_offset;
      size_t most = (p.p_filesz - HEADSIZE) / 8, count = (uint32_t)symbols_word(head + 8);
      if (head[0] == VERSION && head[2] == COUNT_UDATA4 &&
          head[3] == TABLE_DATAREL_SDATA4)
        return symbols_search(head + HEADSIZE, (count < most) ? count : most, p.p_vaddr, address);
    }
  }
  return address;
}
