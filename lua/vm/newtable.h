/* SPDX-License-Identifier: MIT */
/*
** Allocates a table of known size, for ltable.c. If each vector has up to LUAN_SMALLTABLE slots,
** the table and its vectors are one block. If a vector of such a block is replaced later, only the
** lines (of 64 bytes) that it fills completely are freed.
*/
#pragma once

/* A table that is one block with its vectors has at most LUAN_LARGE bytes. A larger block would
   come from lua_Alloc, and would never be freed: the sweep of a dead table frees only its large
   vectors. */
_Static_assert(sizeof(Table) + LUAN_SMALLTABLE * (sizeof(TValue) + sizeof(Node)) <= LUAN_LARGE,
               "a small table would be a large object");

Table *luaN_newtable (lua_State *L, unsigned asize, unsigned hsize) {
  size_t a = asize * sizeof(TValue), h = hsize * sizeof(Node);
  GCObject *o;
  Table *t;
  if (asize > LUAN_SMALLTABLE || hsize > LUAN_SMALLTABLE) {
    t = luaH_new(L);
    sethvalue2s(L, L->top.p - 1, t);  /* makes t reachable from the stack */
    luaH_resize(L, t, asize, hsize);
    return t;
  }
  o = luaC_newobj(L, LUA_VTABLE, sizeof(Table) + a + h);
  t = gco2t(o);
  t->metatable = NULL;
  t->flags = cast_byte(maskflags);
  t->array = (asize > 0) ? cast(TValue *, t + 1) : NULL;
  t->alimit = asize;
  for (; asize > 0; asize--) setempty(&t->array[asize - 1]);
  if (hsize == 0) setnodevector(L, t, 0);
  else {
    Node *n = t->node = cast(Node *, cast_charp(t + 1) + a);
    t->lsizenode = cast_byte(luaO_ceillog2(hsize));
    t->lastfree = gnode(t, hsize);
    for (; n < t->lastfree; n++) {
      gnext(n) = 0;
      setnilkey(n);
      setempty(gval(n));
    }
  }
  return t;
}
