/* SPDX-License-Identifier: MIT */
/* Determines classes of objects by the names of their metatables (classes.h). */
#include "classes.h"
#include "hash.h"
#include "list.h"
#include "bounds.h"

#include <stdlib.h>
#include <string.h>

#include "binding.h"

#define NONE	UINT32_MAX	/* ClassName.parent of a path with one component */
#define LEVELS	3	/* largest number of fields in a path to a table (ClassName.depth) */

/* Smallest cost of building the map Classes.index, in table slots. The cost is the number of table
   slots that are read, or LEASTSLOTS if that is more. It is subtracted from Classes.saved. This
   budget grows by one slot for each CLASSES_BYTES allocated bytes. Without this minimum, a small
   index would be rebuilt very often. */
#define LEASTSLOTS	256u

static uint64_t classes_keyof (const void *p) {
  return (uint64_t)(uintptr_t)p;
}

/* {== numbers ========================================================== */

static uint64_t classes_hashof (const char *s) {
  uint64_t h = hash_bytes(s, strlen(s));
  return (h == 0) ? 1 : h;
}

/* Returns the number of a class name. A new name receives a new number. If no number is free,
   returns CLASSES_MAX, the number of "(other classes)". Returns 0 if out of memory. */
static uint32_t classes_number (Classes *c, const char *name) {
  uint32_t last = idmap_get(&c->ids, classes_hashof(name)), i;
  size_t size = c->size;
  for (i = (last != IDMAP_NONE) ? last : 0; i != 0; i = c->classes[i - 1].next)
    if (strcmp(c->classes[i - 1].name, name) == 0) return i;
  if (c->n == CLASSES_MAX) {
    c->lumped++;
    return CLASSES_MAX;
  }
  if (c->n == CLASSES_MAX - 1) {
    name = "(other classes)";
    last = idmap_get(&c->ids, classes_hashof(name));
  }
  if (!list_room(&c->classes, c->n + 1, &size, sizeof(*c->classes))) return 0;
  c->size = (uint32_t)size;
  if ((c->classes[c->n].name = strdup(name)) == NULL) return 0;
  if (!idmap_set(&c->ids, classes_hashof(name), c->n + 1)) {
    free(c->classes[c->n].name);
    return 0;
  }
  c->classes[c->n].next = (last != IDMAP_NONE) ? last : 0;
  c->n++;
  c->emit(c->ud, c->n, name);
  return c->n;
}

/* Returns the number of the class with the name s, truncated to CLASSES_NAME bytes and with NULs
   replaced by ';'. Returns 0 for an empty string or if out of memory. */
static uint32_t numberof (Classes *c, const char *s, size_t length) {
  char name[CLASSES_NAME + 1];
  size_t i;
  if (length > CLASSES_NAME) length = CLASSES_NAME;
  for (i = 0; i < length; i++) name[i] = (s[i] == '\0') ? ';' : s[i];
  name[length] = '\0';
  return (length > 0) ? classes_number(c, name) : 0;
}

/* }===================================================================== */

/* {== the index ======================================================== */

/* Writes the path of entry i of the index, truncated to CLASSES_NAME bytes. Returns its length. */
static size_t fullname (const Classes *c, uint32_t i,
                        char name[CLASSES_NAME + 1]) {
  const ClassName *n = &c->names[i];
  size_t length = 0, more = n->length;
  if (n->parent != NONE) {
    length = fullname(c, n->parent, name);
    if (length > 0 && length < CLASSES_NAME) name[length++] = '.';
  }
  if (more > CLASSES_NAME - length) more = CLASSES_NAME - length;
  memcpy(name + length, c->text + n->text, more);
  name[length + more] = '\0';
  return length + more;
}

/* Returns 1 if path i is preferred to path j, which has the same number of fields. Paths that start
   with a global are preferred, then bytewise smaller ones. */
static int classes_before (const Classes *c, uint32_t i, uint32_t j) {
  char a[CLASSES_NAME + 1], b[CLASSES_NAME + 1];
  size_t n, m;
  if (c->names[i].root != c->names[j].root)
    return c->names[i].root < c->names[j].root;
  n = fullname(c, i, a);
  m = fullname(c, j, b);
  return memcmp(a, b, (n < m ? n : m) + 1) < 0;
}

/* Adds the table e->table to the index. Its path is that of entry 'parent' followed by the field
   e->key. root, depth: values for the fields of the new ClassName. If the index has the table
   already, keeps the better of the two paths: the one with fewer fields, or if both have as many,
   the one that classes_before prefers. */
static void classes_enter (Classes *c, const luaN_Entry *e, uint32_t parent, int root,
                           int depth) {
  ClassName *n;
  uint32_t known = idmap_get(&c->index, classes_keyof(e->table));
  uint32_t i = (uint32_t)c->nnames;
  if (!list_room(&c->names, c->nnames + 1, &c->names_size, sizeof(*c->names)) ||
      !list_room(&c->text, c->ntext + e->keylength, &c->text_size, 1) ||
      (known == IDMAP_NONE && !idmap_set(&c->index, classes_keyof(e->table), i)))
    return;
  n = &c->names[i];
  n->table = e->table;
  n->parent = parent;
  n->text = (uint32_t)c->ntext;
  n->length = (uint32_t)e->keylength;
  n->depth = (unsigned char)depth;
  n->root = (unsigned char)root;
  memcpy(c->text + c->ntext, e->key, e->keylength);
  if (known == IDMAP_NONE) {
    c->nnames++;
    c->ntext += e->keylength;
  }
  else if (c->names[known].depth == depth && classes_before(c, i, known)) {
    c->names[known] = *n;
    c->ntext += e->keylength;
  }
}

/* Adds to the index the live tables that are values of string keys in 'table', which has the path
   'parent' (NONE: 'table' is _G or package.loaded). root, depth: values for the fields of the new
   ClassNames. If a key starts with "__", such as "__index", its value has the path of 'table'
   itself; in _G and package.loaded, these values are left out. */
static void enterall (Classes *c, lua_State *L, const void *table,
                      uint32_t parent, int root, int depth) {
  luaN_Entry e;
  size_t i = 0;
  while (c->slots < CLASSES_SLOTS && luaN_next(L, table, &i, &e)) {
    c->slots++;
    if (e.table == NULL || e.key == NULL || luaN_isdead(L, e.table)) continue;
    if (e.keylength > 2 && memcmp(e.key, "__", 2) == 0) {
      if (parent == NONE) continue;
      e.key = ""; e.keylength = 0;
    }
    classes_enter(c, &e, parent, root, depth);
  }
}

/* Returns i if path i has a nonempty last component; else the number of the nearest parent path
   that has one. */
static uint32_t classes_named (const Classes *c, uint32_t i) {
  while (c->names[i].length == 0 && c->names[i].parent != NONE)
    i = c->names[i].parent;
  return i;
}

static void makeindex (Classes *c, lua_State *L) {
  const void *globals = luaN_globals(L);
  luaN_Entry loaded = {0};
  size_t i = 0, end;
  int depth;
  idmap_free(&c->index);
  c->nnames = c->ntext = 0;
  c->slots = 0;
  if (globals != NULL) enterall(c, L, globals, NONE, 0, 1);
  if (luaN_field(L, luaN_registry(L), LUA_LOADED_TABLE, &loaded) &&
      loaded.table != NULL)
    enterall(c, L, loaded.table, NONE, 1, 1);
  for (depth = 2; depth <= LEVELS; depth++) {
    for (end = c->nnames; i < end; i++) {
      const ClassName n = c->names[i];  /* a copy, because enterall may enlarge c->names */
      if (n.table != globals && n.table != loaded.table)
        enterall(c, L, n.table, classes_named(c, (uint32_t)i), n.root, depth);
    }
  }
}

/* Returns 1 if the map c->index may be built now: the Lua state has allocated memory since the last
   build, and c->saved, the budget of table slots to read, suffices or c->final is 1. Adds to the
   budget the slots for the bytes allocated since the last call. If it returns 1, subtracts the cost
   of the build. */
static int affordable (Classes *c, lua_State *L) {
  uint64_t allocated = luaN_allocated(L), cost;
  cost = (c->slots > LEASTSLOTS) ? c->slots : LEASTSLOTS;
  if (c->slots > 0 && c->made == allocated) return 0;
  c->saved += allocated / CLASSES_BYTES - c->made / CLASSES_BYTES;
  if (c->slots == 0 || c->saved > CLASSES_SAVED * cost)
    c->saved = CLASSES_SAVED * cost;
  c->made = allocated;
  if (!c->final && c->saved < cost) return 0;
  c->saved -= (c->saved < cost) ? c->saved : cost;
  c->final = 0;
  return 1;
}

/* }===================================================================== */

static uint32_t indexed (Classes *c, const void *table) {
  char name[CLASSES_NAME + 1];
  uint32_t at;
  size_t length;
  if (table == NULL || (at = idmap_get(&c->index, classes_keyof(table))) == IDMAP_NONE)
    return 0;
  length = fullname(c, classes_named(c, at), name);
  return numberof(c, name, length);
}

/* Returns the number of the class of objects with the metatable 'metatable', like classes_of. Not
   inlined, so that classes_of stays fast for objects without a metatable. */
static __attribute__((noinline)) uint32_t classby (Classes *c, lua_State *L,
                                                   const void *metatable) {
  luaN_Entry e;
  uint32_t id = 0, known;
  if ((known = idmap_get(&c->known, classes_keyof(metatable))) != IDMAP_NONE) {
    c->lumped += (known == CLASSES_MAX);
    return known;
  }
  if (luaN_field(L, metatable, "__name", &e) && e.string != NULL)
    id = numberof(c, e.string, e.length);
  if (id == 0) {
    const void *index = luaN_field(L, metatable, "__index", &e) ? e.table : NULL;
    int i;
    for (i = 0; id == 0 && i < 2; i++) {
      if (i == 1) {
        if (!affordable(c, L)) break;
        makeindex(c, L);
      }
      id = indexed(c, metatable);
      if (id == 0) id = indexed(c, index);
    }
  }
  if (id != 0 && !luaN_isdead(L, metatable))
    /* on failure, the class is determined again for the next object with this metatable */
    (void)idmap_set(&c->known, classes_keyof(metatable), id);
  return id;
}

uint32_t classes_of (Classes *c, lua_State *L, const void *owner) {
  const void *metatable = luaN_metatable(L, owner);
  return (metatable == NULL) ? 0 : classby(c, L, metatable);
}

static void keepalive (IdMap *m, lua_State *L) {
  IdMap kept = {0};
  size_t i;
  for (i = 0; i < m->size; i++) {
    const struct IdEntry *e = &m->entries[i];
    if (e->id != 0 && !luaN_isdead(L, (const void *)(uintptr_t)e->id))
      (void)idmap_set(&kept, e->id, e->value);
  }
  idmap_free(m);
  *m = kept;
}

void classes_forgetdead (Classes *c, lua_State *L) {
  keepalive(&c->known, L);
  keepalive(&c->index, L);
}

void classes_forget (Classes *c) {
  idmap_free(&c->known);
  idmap_free(&c->index);
  c->nnames = c->ntext = 0;
  c->slots = c->saved = c->made = 0;
  c->final = 0;
}

void classes_close (Classes *c) {
  uint32_t i;
  classes_forget(c);
  idmap_free(&c->ids);
  for (i = 0; i < c->n; i++) free(c->classes[i].name);
  free(c->classes);
  free(c->names);
  free(c->text);
  memset(c, 0, sizeof(*c));
}

void classes_forgetall (Classes *c) {
  void (*emit) (void *ud, uint32_t id, const char *name) = c->emit;
  void *ud = c->ud;
  memset(c, 0, sizeof(*c));
  c->emit = emit;
  c->ud = ud;
}

void classes_start (Classes *c, void (*emit) (void *ud, uint32_t id,
                                              const char *name), void *ud) {
  classes_close(c);
  c->emit = emit;
  c->ud = ud;
}
