/* SPDX-License-Identifier: MIT */
/*
** Functions of seam.h by which a sampler reads objects. They may be called during a collection,
** because they run no metamethod, allocate no memory and change no object. The sampler's function
** 'decide' is called when all dead objects are known and none is freed, so it may read dead
** objects, too.
*/

#include "lgc.h"

#include "ageing.h"
#include "mark.h"


LUA_API int luaN_isdead (lua_State *L, const void *owner) {
  const GCObject *o = (const GCObject *)owner;
  return luaN_white(G(L), o) && !luaN_ismet(o);
}


LUA_API const void *luaN_metatable (lua_State *L, const void *owner) {
  GCObject *o = (GCObject *)owner;
  (void)L;
  switch (o->tt) {
    case LUA_VTABLE: return gco2t(o)->metatable;
    case LUA_VUSERDATA: return gco2u(o)->metatable;
    default: return NULL;
  }
}


static void setvalue (luaN_Entry *e, const TValue *v) {
  e->function = luaN_codeof(v);
  e->string = ttisstring(v) ? getstr(tsvalue(v)) : NULL;
  e->length = ttisstring(v) ? tsslen(tsvalue(v)) : 0;
  e->table = ttistable(v) ? hvalue(v) : NULL;
}


LUA_API int luaN_field (lua_State *L, const void *table, const char *key, luaN_Entry *e) {
  const Table *t = table;
  size_t length = strlen(key);
  unsigned hash = luaS_hash(key, length, G(L)->seed);
  Node *n = gnode(t, lmod(hash, sizenode(t)));
  lua_assert(length <= LUAI_MAXSHORTLEN);
  for (;;) {
    if (keyisshrstr(n) && !isempty(gval(n))) {
      const TString *s = keystrval(n);
      if (s->shrlen == length && memcmp(getstr(s), key, length) == 0) {
        e->key = getstr(s);
        e->keylength = length;
        setvalue(e, gval(n));
        return 1;
      }
    }
    if (gnext(n) == 0) return 0;
    n += gnext(n);
  }
}


LUA_API int luaN_next (lua_State *L, const void *table, size_t *i, luaN_Entry *e) {
  const Table *t = table;
  const Node *n;
  (void)L;
  if (*i >= (size_t)sizenode(t)) return 0;
  n = gnode(t, (*i)++);
  memset(e, 0, sizeof(*e));
  if (ttistable(gval(n)) || ttisfunction(gval(n))) {
    setvalue(e, gval(n));
    if (keyisshrstr(n) || keytt(n) == ctb(LUA_VLNGSTR)) {
      e->key = getstr(keystrval(n));
      e->keylength = tsslen(keystrval(n));
    }
  }
  return 1;
}


LUA_API const void *luaN_registry (lua_State *L) {
  return hvalue(&G(L)->l_registry);
}


LUA_API const void *luaN_globals (lua_State *L) {
  const Table *registry = hvalue(&G(L)->l_registry);
  const TValue *v;
  if (luaN_asize(registry) < LUA_RIDX_GLOBALS) return NULL;
  v = &registry->array[LUA_RIDX_GLOBALS - 1];
  return ttistable(v) ? hvalue(v) : NULL;
}
