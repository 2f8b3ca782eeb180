/* SPDX-License-Identifier: MIT */
/*
** Fields by short string: ltable.h includes this last. The main position of the
** key is looked at inline; only a key that is not there costs a call. Most
** fields of most tables are where they belong.
*/
#ifndef luaN_fields_h
#define luaN_fields_h

#if !defined(ltable_c)

static inline const TValue *luaN_getshortstr (Table *t, TString *key) {
  const Node *n = gnode(t, key->hash & (unsigned)(sizenode(t) - 1));
  if (l_likely(keyisshrstr(n) && keystrval(n) == key))
    return gval(n);
  return luaH_getshortstr(t, key);
}

#define luaH_getshortstr(t,key)	luaN_getshortstr(t, key)

#endif

#endif
