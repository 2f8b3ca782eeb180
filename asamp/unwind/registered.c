/* SPDX-License-Identifier: MIT */
/* Stores the names of registered C functions (registered.h). */
#include "registered.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A C function and its name. 'name' and 'met' are accessed atomically. */
typedef struct Entry {
  uint64_t function;	/* id of the function (codefile.h) */
  const char *name;	/* NULL: not found yet */
  unsigned met;		/* number of calls of registered_iswanted for the function, until it has a
                           name */
} Entry;

/* Hash table, by id, of the C functions for which registered_iswanted was called. The table is at
   most half full. Its elements are accessed atomically. */
static Entry *slots[2 * REGISTERED_MOST];
static unsigned nentries;	/* number of functions in 'slots'; accessed atomically */

static size_t registered_slot (uint64_t function) {
  return (size_t)((function * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

/* Returns the slot that has the function, or the free slot in which it must be stored. */
static Entry **registered_find (uint64_t function) {
  size_t i = registered_slot(function);
  for (;; i++) {
    Entry **slot = &slots[i % (2 * REGISTERED_MOST)];
    const Entry *e = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (e == NULL || e->function == function) return slot;
  }
}

/* Adds a function and returns its entry. Returns NULL if there are REGISTERED_MOST functions
   already, if there is not enough memory, or if another thread has filled the slot. */
static Entry *registered_add (uint64_t function) {
  Entry *e, *none = NULL;
  if (__atomic_load_n(&nentries, __ATOMIC_RELAXED) >= REGISTERED_MOST ||
      (e = calloc(1, sizeof(*e))) == NULL) return NULL;
  e->function = function;
  if (__atomic_compare_exchange_n(registered_find(function), &none, e, 0, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED)) {
    __atomic_fetch_add(&nentries, 1, __ATOMIC_RELAXED);
    return e;
  }
  free(e);
  return NULL;
}

int registered_iswanted (uint64_t function) {
  Entry *e = __atomic_load_n(registered_find(function), __ATOMIC_ACQUIRE);
  unsigned met;
  if (e == NULL && (e = registered_add(function)) == NULL) return 0;
  if (__atomic_load_n(&e->name, __ATOMIC_RELAXED) != NULL) return 0;
  met = __atomic_add_fetch(&e->met, 1, __ATOMIC_RELAXED);
  return (met & (met - 1)) == 0;
}

void registered_set (uint64_t function, const char *name) {
  Entry *e = __atomic_load_n(registered_find(function), __ATOMIC_ACQUIRE);
  const char *none = NULL;
  char *copy = (e != NULL) ? strndup(name, REGISTERED_NAME) : NULL;
  if (copy != NULL && !__atomic_compare_exchange_n(&e->name, &none, copy, 0, __ATOMIC_RELEASE,
                                                   __ATOMIC_RELAXED))
    free(copy);
}

const char *registered_name (uint64_t function) {
  const Entry *e = __atomic_load_n(registered_find(function), __ATOMIC_ACQUIRE);
  return (e != NULL) ? __atomic_load_n(&e->name, __ATOMIC_ACQUIRE) : NULL;
}
