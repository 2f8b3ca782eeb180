/* SPDX-License-Identifier: MIT */
/*
** A new key whose main position is in use takes an empty node of its chain before it takes a free
** node (one in no chain). Otherwise chains grow in a table with weak keys: new objects are
** allocated at the addresses of dead ones, and their keys have the same main positions.
**
** The empty node must not be the main position of a later key of the chain: a later collision could
** move it away with the rest of its chain, and the later key would not be found. Later keys without
** a value count, because an assignment fills such a node again; dead keys do not.
**
** luaH_next compares a key with dead keys by address. So no dead key with the address of the new
** key may precede it in the chain: emptynode sets that address to NULL.
*/
#ifndef luaN_reuse_h
#define luaN_reuse_h

/*
** Returns an empty node, after mp in its chain, in which the new key 'key' with main position mp
** may be stored; NULL if there is none. Restores or clears tombstoned weak values, which only look
** empty (hidden.h). Neither collects nor raises an error.
*/
static Node *emptynode (lua_State *L, Table *t, Node *mp, const TValue *key) {
  Node *n = mp, *found = NULL;
  if (gnext(mp) == 0 || mainpositionfromnode(t, mp) != mp) return NULL;
  do {
    n += gnext(n);
    if (keyisdead(n) && iscollectable(key) && gckey(n) == gcvalue(key)) gckey(n) = NULL;
    if (found != NULL && !keyisnil(n) && !keyisdead(n) && mainpositionfromnode(t, n) == found)
      found = NULL;
    if (found != NULL) continue;
    luaN_shownode(L, t, n);
    if (isempty(gval(n))) found = n;
  } while (gnext(n) != 0);
  return found;
}

#endif
