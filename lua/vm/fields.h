/* SPDX-License-Identifier: MIT */
/*
** Fields by short string: ltable.h includes this last. The main position of the
** key is looked at inline; only what is not decided there costs a call. Most
** fields of most tables are where they belong, and so are most new ones.
*/
#ifndef luaN_fields_h
#define luaN_fields_h

#if !defined(ltable_c)

static const TValue luaN_absent = {ABSTKEYCONSTANT};

static inline const TValue *luaN_getshortstr (Table *t, TString *key) {
  const Node *n = gnode(t, key->hash & (unsigned)(sizenode(t) - 1));
  if (l_likely(keyisshrstr(n) && keystrval(n) == key))
    return gval(n);
  if (gnext(n) == 0)  /* it would be in the chain that begins here */
    return &luaN_absent;
  return luaH_getshortstr(t, key);
}

#define luaH_getshortstr(t,key)	luaN_getshortstr(t, key)

#endif


#if defined(lvm_c)

static inline const TValue *luaN_get (Table *t, const TValue *key) {
  return ttisshrstring(key) ? luaN_getshortstr(t, tsvalue(key))
                            : luaH_get(t, key);
}

#define luaH_get(t,key)	luaN_get(t, key)


/*
** Puts v under 'key', which t does not have: 1 when that is done. 0: there is
** more to it (a metamethod, a collision, a barrier, no room), nothing is done.
** A young table needs no barrier.
*/
static inline int luaN_newfield (lua_State *L, Table *t, TString *key,
                                 const TValue *v) {
  Node *n = gnode(t, key->hash & (unsigned)(sizenode(t) - 1));
  if (!isempty(gval(n)) || luaN_isold(t) || isdummy(t) ||
      (t->metatable != NULL && !(t->metatable->flags & (1u << TM_NEWINDEX))))
    return 0;
  n->u.key_tt = ctb(LUA_VSHRSTR);
  keyval(n).gc = obj2gco(key);
  setobj2t(L, gval(n), v);
  invalidateTMcache(t);
  return 1;
}

#endif

#endif
