/* SPDX-License-Identifier: MIT */
/*
** A new key that collides takes an empty node of its chain before it takes a free node. Otherwise
** the chains of a table whose keys are collected would grow. The nursery makes new objects at the
** addresses of dead ones, so the same main positions collide again, and each round would leave one
** more empty node in the same chains until the table is rehashed.
**
** A chain contains every key whose main position is one of its nodes. An empty node can be the main
** position of a later key of the chain, because luaH_newkey stores a key at its main position if
** that node is empty. A key of another main position must not take that node: a node out of its
** main position can be moved away together with the rest of its chain, and the later key would no
** longer be found. A later key whose own value is empty counts, too, because an assignment finds
** the node by its key and fills it again. A dead key does not count, because an assignment cannot
** find it.
**
** luaH_next compares a key with dead keys by address. So a dead key with the address of the new key
** must not precede the new key in the chain. There can be one: the dead key may be the same object,
** whose entry a collection has found empty, or a freed object. emptynode sets the address of such a
** dead key to NULL.
*/
#ifndef luaN_reuse_h
#define luaN_reuse_h

/*
** Returns a node in which 'key', whose main position is mp, may be stored: an empty node after mp
** in the chain of mp. No later key of the chain, unless it is dead, may have this node as its main
** position. Returns NULL if there is no such node, or if mp is not the main position of the key in
** mp. Restores or clears tombstones of the nodes that it reads. Neither collects nor raises an
** error.
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
