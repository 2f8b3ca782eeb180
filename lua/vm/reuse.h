/* SPDX-License-Identifier: MIT */
/*
** A new key whose main position is in use takes an empty node of its chain before it takes a free
** node, which is in no chain. Otherwise the chains of a table with weak keys would grow while its
** keys die: new objects are allocated at the addresses of dead ones, so that keys have the same
** main positions again, and each time one more empty node would stay in the same chains until the
** table is rehashed.
**
** The rule: the empty node must not be the main position of a later key of the chain. (luaH_newkey
** makes such chains: it stores a key at its main position if that node is empty.) If a key of
** another main position took the node, a later collision could move the node away together with the
** rest of its chain, and the later key would no longer be found. Later keys without a value count,
** because an assignment finds such a node by its key and fills it again. Dead keys do not, because
** an assignment cannot find them.
**
** luaH_next compares a key with dead keys by address. So a dead key with the address of the new key
** must not precede the new key in the chain. There are two ways in which such a dead key arises: a
** collection has found the entry of the same key empty, or a freed object had the address that the
** new key has now. emptynode sets the address in such a dead key to NULL.
*/
#ifndef luaN_reuse_h
#define luaN_reuse_h

/*
** Returns an empty node in which the new key 'key' may be stored, or NULL if there is none. mp
** is the main position of 'key'. The node is after mp in the chain of mp, and is not the main
** position of a later key of the chain, unless that key is dead. Also returns NULL if the key in
** mp has another main position. If a node that is read is tombstoned (its weak value only looks
** empty, hidden.h), first restores the value, or makes the node empty if the object is dead.
** Neither collects nor raises an error.
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
