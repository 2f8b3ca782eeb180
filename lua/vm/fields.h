/* SPDX-License-Identifier: MIT */
/*
** Lookup of table fields by short strings; ltable.h includes this header last. The lookup is inline
** also for a key that is not at its main position. In a small table half of the keys are not at
** their main position; which keys these are depends on the random seed of the hashes. If such keys
** needed a call, the speed of a program would differ by a quarter from run to run.
*/
#pragma once

/* Declares a function that has two equal definitions: one here, which the compiler may inline, and
   one in ltable.c or ltm.c, for the calls that are not inlined. */
#define LUAN_INLINED	extern inline __attribute__((gnu_inline))

#if !defined(ltable_c)

/* Returns the slot of the value under the short string 'key' in t; the slot may be empty. If no
   node has the key, returns a constant slot (isabstkey). */
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

/* luaH_get of ltable.c, under another name: by its own name, the inline luaH_get below would call
   itself. */
extern const TValue *luaN_getany (Table *t, const TValue *key) __asm__("luaH_get");

LUAN_INLINED const TValue *luaH_get (Table *t, const TValue *key) {
  return ttisshrstring(key) ? luaH_getshortstr(t, tsvalue(key))
                            : luaN_getany(t, key);
}


/* luaH_getstr of ltable.c, under another name: by its own name, the inline luaH_getstr below would
   call itself. */
extern const TValue *luaN_getstring (Table *t, TString *key) __asm__("luaH_getstr");

LUAN_INLINED const TValue *luaH_getstr (Table *t, TString *key) {
  return (key->tt == LUA_VSHRSTR) ? luaH_getshortstr(t, key) : luaN_getstring(t, key);
}


/* Returns the metamethod 'event', whose name is 'ename', of the metatable 'events'. If there is no
   such metamethod, sets the event's bit in the flags of 'events' and returns NULL (like luaT_gettm
   of ltm.c). */
LUAN_INLINED const TValue *luaT_gettm (Table *events, TMS event, TString *ename) {
  const TValue *tm = luaH_getshortstr(events, ename);
  if (!notm(tm)) return tm;
  events->flags |= cast_byte(1u << event);
  return NULL;
}


/* largest number of __index tables that luaN_inherited searches */
#define LUAN_ANCESTORS	8

/*
** Looks up the method 'key' of o in the __index table of its metatable, in the __index table of
** that table's metatable, and so on. Copies the method to 'to' and returns 1. The caller has
** searched o itself before; if o is a table, 'slot' is the result of that search, an empty slot.
**
** Returns 0 if the caller must use the general lookup:
** - the first LUAN_ANCESTORS tables do not have the method, or an __index is not a table
** - a slot looks empty because its weak value is tombstoned (hidden.h)
** - o is not a table, string or full userdata, or 'key' is a long string
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


/*
** Returns a free node for a new key whose main position mp is in use, and links the node after mp.
** Returns NULL if no node is free. Also returns NULL if the key at mp is not a short string, or mp
** is not its main position: ltable.c handles this case.
*/
static __attribute__((noinline)) Node *luaN_behind (Table *t, Node *mp) {
  Node *n = t->lastfree;
  if (!keyisshrstr(mp) || gnode(t, keystrval(mp)->hash & (unsigned)(sizenode(t) - 1)) != mp)
    return NULL;
  do {
    if (n == t->node)
      /* lastfree stays the same: getfreepos will search the same nodes and find none */
      return NULL;
    n--;
  } while (!keyisnil(n));
  t->lastfree = n;
  gnext(n) = (gnext(mp) != 0) ? cast_int(mp + gnext(mp) - n) : 0;
  gnext(mp) = cast_int(n - mp);
  return n;
}


/* True if t certainly has no __newindex, the metamethod that a store of a new field would call. */
#define luaN_hasnonewindex(t) \
  ((t)->metatable == NULL || ((t)->metatable->flags & (1u << TM_NEWINDEX)))


/*
** Stores v under 'key', a short string that no node of t has, and returns 1. Returns 0 and does
** nothing if t is old (a barrier may be needed) or may have a __newindex, if there is no suitable
** node (luaN_behind), or if v is nil.
*/
static inline int luaN_newfield (lua_State *L, Table *t, TString *key, const TValue *v) {
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
