/* SPDX-License-Identifier: MIT */
/*
** Fields by short string; ltable.h includes this header last. The search along the chain of a key
** is inline. In a table with few fields about half of the keys are not at their main position,
** and which ones depends on the seed of the hashes. If such keys were found by a call, the speed
** of a program would differ by a quarter between runs.
*/
#ifndef luaN_fields_h
#define luaN_fields_h

/* Inline definition of a function that ltable.c or ltm.c defines, too: the compiler inlines this
   definition or calls that one, which does the same. */
#define LUAN_INLINED	extern inline __attribute__((gnu_inline))

#if !defined(ltable_c)

/* Returns the value slot of the short string 'key' in t, or the slot of an absent key. */
LUAN_INLINED const TValue *luaH_getshortstr (Table *t, TString *key) {
  static const TValue absent = {ABSTKEYCONSTANT};
  const Node *n = gnode(t, key->hash & (unsigned)(sizenode(t) - 1));
  for (;;) {
    int next;
    if (l_likely(keyisshrstr(n) && keystrval(n) == key))
      return gval(n);
    next = gnext(n);
    if (next == 0)
      return &absent;
    n += next;
  }
}

#endif


#if defined(lvm_c)

/* ltable.c's luaH_get, under a name for this header only. */
extern const TValue *luaN_getany (Table *t, const TValue *key) __asm__("luaH_get");

LUAN_INLINED const TValue *luaH_get (Table *t, const TValue *key) {
  return ttisshrstring(key) ? luaH_getshortstr(t, tsvalue(key))
                            : luaN_getany(t, key);
}


/* ltable.c's luaH_getstr, under a name for this header only. */
extern const TValue *luaN_getstring (Table *t, TString *key) __asm__("luaH_getstr");

LUAN_INLINED const TValue *luaH_getstr (Table *t, TString *key) {
  return (key->tt == LUA_VSHRSTR) ? luaH_getshortstr(t, key) : luaN_getstring(t, key);
}


/* As ltm.c's luaT_gettm. */
LUAN_INLINED const TValue *luaT_gettm (Table *events, TMS event, TString *ename) {
  const TValue *tm = luaH_getshortstr(events, ename);
  if (!notm(tm)) return tm;
  events->flags |= cast_byte(1u << event);
  return NULL;
}


/* Number of tables in which a method is searched, in addition to the object's own. */
#define LUAN_ANCESTORS	8

/*
** Copies the method 'key' of object o, which has no such field itself, to 'to' and returns 1.
** 'slot' is the slot of 'key' in o, if o is a table. Searches the table in the __index of the
** metatable of o, then the one in the __index of that table's metatable, and so on. Returns 0, and
** does nothing, if none of LUAN_ANCESTORS tables has the method or if more is necessary (__index is
** a function, 'key' is a long string, a slot is tombstoned).
*/
static inline int luaN_inherited (lua_State *L, const TValue *o, TString *key,
                                   const TValue *slot, StkId to) {
  TString *index = G(L)->tmname[TM_INDEX];
  Table *mt;
  int i;
  if (ttistable(o)) mt = luaN_ishidden(slot) ? NULL : hvalue(o)->metatable;
  else if (ttisstring(o)) mt = G(L)->mt[LUA_TSTRING];
  else if (ttisfulluserdata(o)) mt = uvalue(o)->metatable;
  else return 0;
  if (key->tt != LUA_VSHRSTR) return 0;
  for (i = 0; mt != NULL && i < LUAN_ANCESTORS; i++) {
    const TValue *v = luaH_getshortstr(mt, index);
    if (!ttistable(v)) return 0;
    mt = hvalue(v)->metatable;
    v = luaH_getshortstr(hvalue(v), key);
    if (!isempty(v)) {
      setobj2s(L, to, v);
      return 1;
    }
    if (luaN_ishidden(v)) return 0;
  }
  return 0;
}


/* Takes a free node and links it after the main position 'mp'. Returns NULL, and does nothing, if
   no node is free, or if the key at mp is no short string or would have to move, because mp is not
   its main position. */
static __attribute__((noinline)) Node *luaN_behind (Table *t, Node *mp) {
  Node *n = t->lastfree;
  if (!keyisshrstr(mp) ||
      gnode(t, keystrval(mp)->hash & (unsigned)(sizenode(t) - 1)) != mp)
    return NULL;
  do {
    if (n == t->node)
      /* luaH_newkey will find no free node either, and rehash; so lastfree stays as it is. */
      return NULL;
    n--;
  } while (!keyisnil(n));
  t->lastfree = n;
  gnext(n) = (gnext(mp) != 0) ? cast_int(mp + gnext(mp) - n) : 0;
  gnext(mp) = cast_int(n - mp);
  return n;
}


/* True if a new entry in t calls no __newindex; false also if that is not known without a
   lookup. */
#define luaN_hasnonewindex(t) \
  ((t)->metatable == NULL || ((t)->metatable->flags & (1u << TM_NEWINDEX)))


/*
** Stores v under 'key', a short string that t does not have, and returns 1. Returns 0, and does
** nothing, if t is old, because the store may need a barrier then, or if more is necessary
** (__newindex, a key to be moved, no free node, v is nil).
*/
static inline int luaN_newfield (lua_State *L, Table *t, TString *key,
                                 const TValue *v) {
  Node *n = gnode(t, key->hash & (unsigned)(sizenode(t) - 1));
  if (luaN_isold(t) || isdummy(t) || ttisnil(v) || !luaN_hasnonewindex(t))
    return 0;
  if (!isempty(gval(n)) && (n = luaN_behind(t, n)) == NULL)
    return 0;
  n->u.key_tt = ctb(LUA_VSHRSTR);
  keyval(n).gc = obj2gco(key);
  setobj2t(L, gval(n), v);
  invalidateTMcache(t);
  return 1;
}

#endif

#endif
