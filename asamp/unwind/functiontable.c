/* SPDX-License-Identifier: MIT */
/* Finds functions by address (functiontable.h). */
#include "functiontable.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

/* Names searched by reading all symbols before the table is made: cheaper up to this number. */
#define SEARCHES	16

/* Returns the binding of a symbol that may be code: 0 local, 1 weak, 2 global; -1: no code. */
static int rankof (const GElf_Sym *symbol, GElf_Word section) {
  int type = GELF_ST_TYPE(symbol->st_info);
  if (section == SHN_UNDEF || section == SHN_ABS ||
      (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)) return -1;
  switch (GELF_ST_BIND(symbol->st_info)) {
    case STB_LOCAL: return 0;
    case STB_WEAK: return 1;
    default: return 2;
  }
}

/* Returns 1 for a mapping symbol of arm ("$x", "$d"). */
static int ismapping (const char *name) {
  return name[0] == '$' && name[1] != '\0' && strchr("adtx", name[1]) != NULL &&
         (name[2] == '\0' || name[2] == '.');
}

/* Reads symbol i of 'mod'. Returns its name; *rank -1: no code. */
static const char *readsymbol (Dwfl_Module *mod, int i, GElf_Sym *symbol, GElf_Addr *start,
                               GElf_Word *section, int *rank) {
  const char *name;
  *section = SHN_UNDEF;
  name = dwfl_module_getsym_info(mod, i, symbol, start, section, NULL, NULL);
  *rank = -1;
  if (name != NULL && *name != '\0' && !ismapping(name)) *rank = rankof(symbol, *section);
  return name;
}

/* Orders spans by start; of equal starts the one to be taken (FT1) comes last. */
static int order (const void *a, const void *b) {
  const FunctionSpan *x = a, *y = b;
  if (x->start != y->start) return (x->start < y->start) ? -1 : 1;
  if (x->rank != y->rank) return (x->rank < y->rank) ? -1 : 1;
  return (x->number > y->number) ? -1 : 1;
}

static int functiontable_make (FunctionTable *t, Dwfl_Module *mod) {
  int i, n = dwfl_module_getsymtab(mod);
  uint64_t reach = 0;
  size_t k;
  t->n = 0;
  t->sizeless = 0;
  t->spans = (n > 0) ? malloc((size_t)n * sizeof(*t->spans)) : NULL;
  if (n > 0 && t->spans == NULL) return 0;
  for (i = 0; i < n; i++) {
    GElf_Sym symbol;
    GElf_Addr start;
    GElf_Word section;
    int rank;
    readsymbol(mod, i, &symbol, &start, &section, &rank);
    if (rank < 0) continue;
    if (symbol.st_size == 0) t->sizeless = 1;
    else {
      FunctionSpan *s = &t->spans[t->n++];
      s->start = start;
      s->end = (start + symbol.st_size > start) ? start + symbol.st_size : UINT64_MAX;
      s->number = i;
      s->rank = rank;
    }
  }
  if (t->n > 0) {
    FunctionSpan *fit = realloc(t->spans, t->n * sizeof(*fit));
    if (fit != NULL) t->spans = fit;
    qsort(t->spans, t->n, sizeof(*t->spans), order);
  }
  for (k = 0; k < t->n; k++) {
    if (t->spans[k].end > reach) reach = t->spans[k].end;
    t->spans[k].reach = reach;
  }
  return 1;
}

/* Sets 'symbols' to .symtab or else .dynsym in the file's image. Sets none if there are packed
   symbols (.gnu_debugdata) or no section headers. */
static void setsymbols (FunctionTable *t, Elf *elf) {
  Elf_Scn *section = NULL;
  size_t names, size;
  const char *ident = elf_getident(elf, NULL);
  t->searched = 1;
  if (ident == NULL || ident[EI_CLASS] != (sizeof(ElfW(Addr)) == 8 ? ELFCLASS64 : ELFCLASS32) ||
      elf_getshdrstrndx(elf, &names) != 0) return;
  while ((section = elf_nextscn(elf, section)) != NULL) {
    GElf_Shdr head;
    Elf_Data *data;
    const char *name;
    if (gelf_getshdr(section, &head) == NULL ||
        (name = elf_strptr(elf, names, head.sh_name)) == NULL) break;
    if (strcmp(name, ".gnu_debugdata") == 0) break;
    if (head.sh_type != SHT_SYMTAB && (head.sh_type != SHT_DYNSYM || t->symbols != NULL)) continue;
    if ((data = elf_getdata(section, NULL)) == NULL) break;
    size = data->d_size / sizeof(ElfW(Sym));
    t->symbols = data->d_buf;
    t->nsymbols = size;
    t->strings = head.sh_link;
  }
  if (section != NULL) t->symbols = NULL;
}

/* Returns 1 if symbol a is taken rather than b for an address that both cover (FT1). 'rank' and
   'other' are their ranks. */
static int precedes (const ElfW(Sym) *a, int rank, const ElfW(Sym) *b, int other) {
  if ((rank > 0) != (other > 0)) return rank > 0;
  if (a->st_value != b->st_value) return a->st_value > b->st_value;
  return rank > other;
}

/* Sets *name to the name of the code at 'address', or NULL. Returns 0 if libdwfl must search. */
static int functiontable_search (const FunctionTable *t, Elf *elf, uint64_t address,
                                 const char **name) {
  const ElfW(Sym) *found = NULL;
  const char *text;
  int rank = -1, sizeless = 0;
  size_t i;
  for (i = 0; i < t->nsymbols; i++) {
    const ElfW(Sym) *s = &t->symbols[i];
    GElf_Sym symbol;
    int r;
    if (address - s->st_value >= s->st_size && s->st_size != 0) continue;
    symbol.st_info = s->st_info;
    r = (s->st_name != 0) ? rankof(&symbol, s->st_shndx) : -1;
    if (r < 0) continue;
    if (s->st_size == 0) {
      text = elf_strptr(elf, t->strings, s->st_name);
      if (text == NULL || !ismapping(text)) sizeless = 1;
    }
    else if (found == NULL || precedes(s, r, found, rank)) {
      found = s;
      rank = r;
    }
  }
  *name = (found != NULL) ? elf_strptr(elf, t->strings, found->st_name) : NULL;
  return *name != NULL || (found == NULL && !sizeless);
}

/* Returns the symbol that covers 'address' (FT1), or NULL. */
static const FunctionSpan *functiontable_find (const FunctionTable *t, uint64_t address) {
  const FunctionSpan *local = NULL;
  size_t low = 0, high = t->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (t->spans[middle].start <= address) low = middle + 1;
    else high = middle;
  }
  for (; low > 0 && t->spans[low - 1].reach > address; low--) {
    const FunctionSpan *s = &t->spans[low - 1];
    if (s->end <= address) continue;
    if (s->rank > 0) return s;
    if (local == NULL) local = s;
  }
  return local;
}

/* Returns the name that libdwfl finds; instead of a mapping symbol the last symbol without a
   size before 'address' in its section, unless one with a size ends in between. */
static const char *fromlibdwfl (Dwfl_Module *mod, uint64_t address) {
  const char *found = dwfl_module_addrname(mod, address);
  GElf_Addr within = address, bias, last = 0;
  int i, n, best = -1;
  GElf_Word home;
  if (found == NULL || !ismapping(found)) return found;
  home = (GElf_Word)elf_ndxscn(dwfl_module_address_section(mod, &within, &bias));
  found = NULL;
  n = dwfl_module_getsymtab(mod);
  for (i = 0; i < n; i++) {
    GElf_Sym symbol;
    GElf_Addr start;
    GElf_Word section;
    int rank;
    const char *name = readsymbol(mod, i, &symbol, &start, &section, &rank);
    if (rank < 0 || section != home || start > address) continue;
    start += symbol.st_size;
    if (start < last || (start == last && (symbol.st_size != 0 || rank <= best))) continue;
    last = start;
    found = (symbol.st_size == 0) ? name : NULL;
    best = (symbol.st_size == 0) ? rank : -1;
  }
  return found;
}

const char *functiontable_name (FunctionTable *t, Dwfl_Module *mod, uint64_t address) {
  const FunctionSpan *s;
  GElf_Addr bias;
  Elf *elf = dwfl_module_getelf(mod, &bias);
  const char *name;
  if (!t->searched && elf != NULL) setsymbols(t, elf);
  if (t->symbols != NULL && t->names < SEARCHES) {
    t->names++;
    if (functiontable_search(t, elf, address - bias, &name)) return name;
  }
  if (!t->made && !(t->made = functiontable_make(t, mod)))
    return fromlibdwfl(mod, address);
  s = functiontable_find(t, address);
  if (s != NULL) {
    GElf_Sym symbol;
    GElf_Addr start;
    return dwfl_module_getsym_info(mod, s->number, &symbol, &start, NULL, NULL, NULL);
  }
  return t->sizeless ? fromlibdwfl(mod, address) : NULL;
}

void functiontable_free (FunctionTable *t) {
  free(t->spans);
  t->spans = NULL;
  t->made = 0;
}
