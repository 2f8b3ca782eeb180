/* SPDX-License-Identifier: MIT */
/* Stores the object files whose code was sampled (codefile.h). */
#define _GNU_SOURCE
#include "codefile.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

/* Hash table of the stored files, by CodeFile.at.from. The number of a file is its index in the
   table + 1. The table is at most half full. Its elements are accessed atomically. */
static CodeFile *slots[2 * CODEFILE_MOST];
static unsigned nfiles;		/* number of files in 'slots'; accessed atomically */

/* Returns the slot that has the loaded file *o, or the free slot in which *o must be stored. */
static CodeFile **codefile_slot (const Loaded *o) {
  size_t i = (size_t)(((uint64_t)(uintptr_t)o->from * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
  for (;; i++) {
    CodeFile **slot = &slots[i % (2 * CODEFILE_MOST)];
    const CodeFile *f = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (f == NULL || (f->at.from == o->from && f->at.to == o->to && f->at.table == o->table &&
                      (o->map == NULL || strcmp(f->name, o->map->l_name) == 0))) return slot;
  }
}

/* Stores the loaded file *o in a free slot. Returns 0 if there are CODEFILE_MOST files already, if
   there is not enough memory, or if another thread has filled the slot. */
static int codefile_add (CodeFile **slot, const Loaded *o) {
  const char *name = (o->map != NULL) ? o->map->l_name : "";
  CodeFile *f, *none = NULL;
  if (__atomic_load_n(&nfiles, __ATOMIC_RELAXED) >= CODEFILE_MOST ||
      (f = calloc(1, sizeof(*f) + strlen(name) + 1)) == NULL) return 0;
  f->at = *o;
  strcpy(f->name, name);
  if (__atomic_compare_exchange_n(slot, &none, f, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    __atomic_fetch_add(&nfiles, 1, __ATOMIC_RELAXED);
    return 1;
  }
  free(f);
  return 0;
}

uint64_t codefile_id (const void *address) {
  const uint64_t id = (uint64_t)(uintptr_t)address;
  CodeFile **slot;
  Loaded o;
  if (!loaded_find(address, &o)) return id;
  slot = codefile_slot(&o);
  if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) == NULL && !codefile_add(slot, &o)) return id;
  return id + (uint64_t)(slot - slots + 1) * (CODEFILE_ADDRESS + 1);
}

CodeFile *codefile_of (uint64_t id) {
  const size_t number = id / (CODEFILE_ADDRESS + 1);
  if (number == 0 || number > 2 * CODEFILE_MOST) return NULL;
  return __atomic_load_n(&slots[number - 1], __ATOMIC_ACQUIRE);
}
