/* SPDX-License-Identifier: MIT */
/* Keeps the encoder's data of each state (origin.h). */
#include "origin.h"
#include "bounds.h"
#include "hash.h"
#include "list.h"

#include <stdlib.h>
#include <string.h>

static void freeone (Origin *o) {
  free(o->stack.block);
  free(o->functions.list);
  free(o->classes.list);
  free(o);
}

Origin *origins_get (Origins *o, uint32_t id) {
  uint32_t at;
  Origin *new;
  if (o->last != NULL && o->last->id == id)
    return o->last;
  at = idmap_get(&o->places, (uint64_t)id + 1);
  if (at != IDMAP_NONE && at < o->n && o->list[at]->id == id)
    return o->last = o->list[at];
  new = spare_calloc(1, sizeof(*new));
  if (new == NULL || !list_grow(&o->list, o->n, &o->size, sizeof(*o->list)) ||
      !idmap_set(&o->places, (uint64_t)id + 1, (uint32_t)o->n)) {
    free(new);
    return NULL;
  }
  new->id = id;
  o->list[o->n++] = new;
  return o->last = new;
}

/* Replaces 'places' by a map without ended states, if it has at least 1,024 entries and at least
   three quarters of them are of ended states. Does nothing if out of memory. */
static void origin_forget (Origins *o) {
  IdMap fresh = {0};
  size_t i;
  if (o->places.n < 1024 || o->places.n < 4 * o->n)
    return;
  for (i = 0; i < o->n; i++) {
    if (!idmap_set(&fresh, (uint64_t)o->list[i]->id + 1, (uint32_t)i)) {
      idmap_free(&fresh);
      return;
    }
  }
  idmap_free(&o->places);
  o->places = fresh;
}

void origins_drop (Origins *o, Origin *gone) {
  uint32_t at = idmap_get(&o->places, (uint64_t)gone->id + 1);
  o->list[at] = o->list[--o->n];
  if (at < o->n)  /* idmap_set cannot fail here, because the entry exists */
    (void)idmap_set(&o->places, (uint64_t)o->list[at]->id + 1, at);
  o->last = NULL;
  freeone(gone);
  origin_forget(o);
}

void origins_free (Origins *o) {
  while (o->n > 0)
    freeone(o->list[--o->n]);
  free(o->list);
  idmap_free(&o->places);
  idmap_free(&o->functions);
  idmap_free(&o->classes);
}

static int note (Numbers *n, uint64_t local, uint32_t number) {
  if (local == 0 || local > UINT32_MAX - 1 ||
      !list_room(&n->list, (size_t)local, &n->size, sizeof(*n->list)))
    return 0;
  while (n->n < local)
    n->list[n->n++] = 0;
  n->list[local - 1] = number;
  return 1;
}

/* Returns the number of a name in 'names'. Adds a new name with the next number, and sets *isnew to
   1. Returns IDMAP_NONE if the name is new but 'names' has 'most' names, 0 if out of memory. */
static uint32_t origin_nameid (IdMap *names, uint32_t *n, uint32_t most, const char *name,
                               int *isnew) {
  uint64_t key = hash_bytes(name, strlen(name)) | 1;
  uint32_t i = idmap_get(names, key);
  *isnew = 0;
  if (i != IDMAP_NONE || *n >= most)
    return i;
  if (!idmap_set(names, key, *n + 1))
    return 0;
  *isnew = 1;
  return ++*n;
}

/* Like origin_nameid, but only the first 'most' - 1 names have numbers of their own. All further
   names share the number 'most': for them, sets *name to 'others' and increments *lumped. */
static uint32_t orothers (IdMap *names, uint32_t *n, uint32_t most, const char *others,
                          uint64_t *lumped, const char **name, int *isnew) {
  uint32_t i = origin_nameid(names, n, most - 1, *name, isnew);
  if (i != IDMAP_NONE)
    return i;
  ++*lumped;
  *name = others;
  return origin_nameid(names, n, most, *name, isnew);
}

uint32_t origins_functionname (Origins *o, const char **name, int *isnew) {
  return orothers(&o->functions, &o->nfunctions, FUNCTIONS_MOST, ORIGIN_FUNCTIONS,
                  &o->lumpedfunctions, name, isnew);
}

uint32_t origins_classname (Origins *o, const char **name, int *isnew) {
  return orothers(&o->classes, &o->nclasses, CLASSES_MAX, ORIGIN_CLASSES, &o->lumpedclasses,
                  name, isnew);
}

uint32_t origins_function (Origins *o, Origin *of, uint64_t local, const char **name,
                           int *isnew) {
  uint32_t i = origins_functionname(o, name, isnew);
  return note(&of->functions, local, i) ? i : 0;
}

uint32_t origins_class (Origins *o, Origin *of, uint32_t local, const char **name,
                        int *isnew) {
  uint32_t i = origins_classname(o, name, isnew);
  return note(&of->classes, local, i) ? i : 0;
}
