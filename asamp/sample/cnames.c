/* SPDX-License-Identifier: MIT */
/* Finds names of C functions in tables (cnames.h). */
#include "cnames.h"

#include <string.h>

#include "binding.h"
#include "codefile.h"
#include "registered.h"

/* State of one search for the name of a C function. */
typedef struct Search {
  lua_State *L;
  const void *function;
  unsigned slots;		/* number of table slots that the search has read */
  size_t length;		/* bytes of 'name'; 0: none found yet */
  char name[2 * REGISTERED_NAME];
} Search;

/* Stores in *s the name PREFIX.KEY if it is shorter than the name found so far, or as long and
   bytewise smaller. Ignores names that are longer than REGISTERED_NAME bytes or contain a NUL. */
static void take (Search *s, const luaN_Entry *prefix, const luaN_Entry *e) {
  char name[sizeof(s->name)];
  size_t dot = (prefix->keylength > 0), n = prefix->keylength + dot + e->keylength;
  if (n == 0 || n > REGISTERED_NAME) return;
  memcpy(name, prefix->key, prefix->keylength);
  if (dot) name[prefix->keylength] = '.';
  memcpy(name + prefix->keylength + dot, e->key, e->keylength);
  if (memchr(name, '\0', n) != NULL) return;
  if (s->length > 0 && (n > s->length || (n == s->length && memcmp(name, s->name, n) >= 0))) return;
  memcpy(s->name, name, n);
  s->name[n] = '\0';
  s->length = n;
}

/* Searches the fields of a table for s->function. Returns 0 if it has stopped, because the table
   has more than CNAMES_TABLE slots or the whole search has read CNAMES_SLOTS slots. */
static int fields (Search *s, const void *table, const luaN_Entry *prefix) {
  luaN_Entry e;
  size_t i = 0;
  while (luaN_next(s->L, table, &i, &e)) {
    if (i > CNAMES_TABLE || ++s->slots > CNAMES_SLOTS) return 0;
    if (e.function == s->function && e.key != NULL) take(s, prefix, &e);
  }
  return 1;
}

static void modules (Search *s, const void *loaded) {
  const void *globals = luaN_globals(s->L);
  luaN_Entry e;
  size_t i = 0;
  while (s->slots++ < CNAMES_SLOTS && luaN_next(s->L, loaded, &i, &e)) {
    if (e.table == NULL || e.key == NULL) continue;
    if (e.table == globals) e.keylength = 0;
    fields(s, e.table, &e);
  }
}

static void metatables (Search *s, const void *loaded) {
  const void *registry = luaN_registry(s->L);
  luaN_Entry e, index;
  size_t i = 0;
  while (s->slots++ < CNAMES_SLOTS && luaN_next(s->L, registry, &i, &e)) {
    if (e.table == NULL || e.key == NULL || e.table == loaded) continue;
    fields(s, e.table, &e);
    if (luaN_field(s->L, e.table, "__index", &index) && index.table != NULL &&
        index.table != e.table) fields(s, index.table, &e);
  }
}

void cnames_meet (lua_State *L, const void *function) {
  Search s;
  luaN_Entry loaded = {0};
  const uint64_t id = codefile_id(function);
  if (!registered_iswanted(id)) return;
  s.L = L;
  s.function = function;
  s.slots = 0;
  s.length = 0;
  if (luaN_field(L, luaN_registry(L), LUA_LOADED_TABLE, &loaded) && loaded.table != NULL)
    modules(&s, loaded.table);
  if (s.length == 0) metatables(&s, loaded.table);
  if (s.length > 0) registered_set(id, s.name);
}
