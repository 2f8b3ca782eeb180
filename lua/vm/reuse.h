/* SPDX-License-Identifier: MIT */
/*
** A new key whose main position is in use takes an empty node of its chain, if there is one, rather
** than a free node (a node in no chain). If it took a free node, chains would grow in a table with
** weak keys: new objects are allocated at the addresses of dead ones, and their keys have the same
** main positions.
**
** The empty node must not be the main position of a key k in a later node of the chain. Reason: a
** lookup of k starts at the empty node. If the new key took this node, an insertion of another key
** with this main position would move the new key to a free node, with the links to k. The lookup of
** k would then start in a chain without k, and fail. The reason applies even if the key in the
** later node has no value at present, because an assignment may give it one. It does not apply to a
** dead key, which is never looked up.
**
** luaH_next compares a key with dead keys by address. So no dead key with the address of the new
** key may precede the new key in the chain: emptynode sets that address to NULL.
*/
#pragma once

/* Returns an empty node, after mp in its chain, in which the new key 'key' with main position mp
   may be stored; NULL if there is none. If the slot of a node only looks empty, because its weak
   value is tombstoned (hidden.h), restores the value, or clears it if its object is dead. Neither
   collects nor raises an error. */
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
