/* SPDX-License-Identifier: MIT */
/* Copies keys of nearly full hash parts to larger ones, and puts these into use (growing.h). Here,
   the growth buffer is the larger hash part, which is not in use yet; an old node is a node of the
   table's present hash part; and its copy is the node of the growth buffer with the same key. */

#include "lgc.h"
#include "ltable.h"

#include "growing.h"
#include "growth.h"
#include "optional.h"

/* largest number of nodes of a hash part (MAXHBITS of ltable.c) */
#define MOST_NODES	((size_t)1 << 30)

/*
** Copying of keys may start only while getfreepos (the search for a free node) has visited fewer
** than GROWTHWINDOW nodes since the hash part became nearly full. After a later start, too few
** insertions would be left to copy all keys.
*/
#define GROWTHWINDOW	32

/* willdouble reads this number of nodes to predict whether the hash part will double. If two or
   more of them are empty, the program removes keys, so the next resize may keep the size. */
#define GROWTHPROBES	64u

/* A key counts as near the array part if it is a positive integer of at most NEARINTEGERS times the
   slots of the table. The next resize may move such keys to the array part, so the next size of the
   hash part is not predictable. */
#define NEARINTEGERS	4u

/* Number of nodes whose keys are copied at a time. Meanwhile the keys of the next COPYBLOCK nodes
   are prefetched. */
#define COPYBLOCK	LUAN_PREFETCH_DISTANCE


/* Returns 1 if the next resize of the nearly full t will probably double its nodes and keep its
   array part. Reads GROWTHPROBES nodes. */
static int willdouble (const Table *t) {
  unsigned size = (unsigned)sizenode(t), first = cast_uint(t->lastfree - t->node);
  lua_Unsigned near = (lua_Unsigned)NEARINTEGERS * ((lua_Unsigned)size + luaH_realasize(t));
  unsigned k, empty = 0;
  if (2 * (size_t)size > MOST_NODES) return 0;
  for (k = 0; k < GROWTHPROBES; k++) {
    const Node *n = gnode(t, first + cast_uint((lua_Unsigned)(size - first) * k / GROWTHPROBES));
    if (isempty(gval(n))) empty++;
    else if (keyisinteger(n) && l_castS2U(keyival(n)) - 1u < near) return 0;
  }
  return empty < 2;
}


/* Returns a Table whose hash part is the growth buffer of w (the next, larger hash part, to which
   keys are copied in advance), to compute main positions in it. Its other fields are not set. */
static Table nextof (const luaN_Growth *w) {
  Table next;
  next.node = w->node;
  next.lsizenode = cast_byte(luaO_ceillog2(w->size) + 1);
  return next;
}


/* Removes the copy of the key of node i of the table from the growth buffer (the next, larger hash
   part); there must be a copy. The copy's node gets a dead key and stays in its chain, where
   placecopy may reuse the node. */
static void dropcopy (luaN_Growth *w, unsigned i) {
  Node *n = w->node + w->copyof[i];
  setempty(gval(n));
  setdeadkey(n);
  gckey(n) = NULL;
  w->copyof[i] = LUAN_NOCOPY;
}


/* Returns a free node of the growth buffer (the next, larger hash part, filled in advance), or
   NULL. Searches like getfreepos of ltable.c. */
static Node *freecopy (luaN_Growth *w) {
  while (w->lastfree > w->node) {
    w->lastfree--;
    if (keyisnil(w->lastfree)) return w->lastfree;
  }
  return NULL;
}


/* Returns a node of the growth buffer (the next, larger hash part) for a key with main position mp,
   and links the node as luaH_newkey does. Does not hash the keys that are in the buffer already,
   because the value field of their nodes contains their main positions (luaN_setcopy). Returns NULL
   if no node is free. */
static Node *placecopy (luaN_Growth *w, Node *mp) {
  Node *other, *f;
  if (isempty(gval(mp))) {
    w->used += keyisnil(mp);
    return mp;
  }
  f = freecopy(w);
  if (f == NULL) return NULL;
  w->used++;
  other = w->node + luaN_mainof(mp);
  if (other == mp) {
    gnext(f) = (gnext(mp) != 0) ? cast_int(mp + gnext(mp) - f) : 0;
    gnext(mp) = cast_int(f - mp);
    return f;
  }
  while (other + gnext(other) != mp) other += gnext(other);
  gnext(other) = cast_int(f - other);
  *f = *mp;
  if (gnext(mp) != 0) gnext(f) += cast_int(mp - f);
  gnext(mp) = 0;
  w->copyof[luaN_fromof(f)] = (uint32_t)(f - w->node);
  return mp;
}


/* Copies the key of node i of the table to the growth buffer (the next, larger hash part). The node
   must have a value, and its key must have no copy yet. mp: main position of the key in the buffer.
   Returns 0 if no node of the buffer is free. */
static inline int copynode (luaN_Growth *w, unsigned i, Node *mp) {
  const Node *old = w->old + i;
  Node *n = placecopy(w, mp);
  if (n == NULL) return 0;
  n->u.key_tt = old->u.key_tt;
  n->u.key_val = old->u.key_val;
  luaN_setcopy(n, cast_uint(mp - w->node), i);
  w->copyof[i] = (uint32_t)(n - w->node);
  return 1;
}


/* Returns the main position that the key of node i of the table has in the growth buffer (the next,
   larger hash part); NULL if node i is empty. next: a Table with the buffer as its nodes. */
static inline Node *mainof (const luaN_Growth *w, const Table *next, unsigned i) {
  const Node *old = w->old + i;
  if (isempty(gval(old))) return NULL;
  if (keyisshrstr(old)) return gnode(next, keystrval(old)->hash & (unsigned)(sizenode(next) - 1));
  return mainpositionfromnode(next, cast(Node *, old));
}


/* Copies the keys of the table's next COPYBLOCK nodes to the growth buffer (the next, larger hash
   part). Returns 0 if no node of the buffer is free. */
static int copysome (luaN_Growth *w, const Table *next) {
  Node *mp[COPYBLOCK];
  unsigned i, k = w->copied;
  const Node *n = w->old + k + COPYBLOCK;
  for (i = 0; i < COPYBLOCK && k + COPYBLOCK < w->size; i++)
    if (keyisshrstr(n + i)) __builtin_prefetch(keystrval(n + i));
  for (i = 0; i < COPYBLOCK; i++) {
    mp[i] = mainof(w, next, k + i);
    __builtin_prefetch(mp[i], 1);
  }
  for (i = 0; i < COPYBLOCK; i++) {
    w->copyof[k + i] = LUAN_NOCOPY;
    if (mp[i] != NULL && !copynode(w, k + i, mp[i])) return 0;
  }
  w->copied += COPYBLOCK;
  return 1;
}


/* Makes a new copy of the key of node i in the growth buffer (the next, larger hash part), because
   node i has received another key. i must be less than w->copied, the number of nodes whose keys
   were copied so far. Returns 0 if no node of the buffer is free. */
static int copyagain (luaN_Growth *w, unsigned i) {
  Table next = nextof(w);
  if (w->copyof[i] != LUAN_NOCOPY) dropcopy(w, i);
  return copynode(w, i, mainof(w, &next, i));
}


static void clearnodes (luaN_Growth *w, size_t n) {
  for (; w->cleared < n; w->cleared++) {
    Node *node = &w->node[w->cleared];
    gnext(node) = 0;
    setnilkey(node);
    setempty(gval(node));
  }
}


/* Continues to fill the growth buffer (the next, larger hash part): first initializes its nodes;
   when all are initialized, copies keys. The table will be resized when getfreepos, the search for
   a free node, has visited all nodes, so the work proceeds at the pace of these visits. left:
   number of nodes not visited yet. Returns 0 if no node of the buffer is free. */
static int growon (luaN_Growth *w, unsigned left) {
  Table next = nextof(w);
  size_t all = 2 * (size_t)w->size;
  size_t due = ((size_t)(w->from - left) * 2 * all + w->from - 1) / w->from;
  lua_assert(left <= w->from);
  clearnodes(w, due < all ? due : all);
  while (due > all + 2 * (size_t)w->copied)
    if (!copysome(w, &next)) return 0;
  return 1;
}


/* To be called after a key was moved between two nodes of t. If keys of t are being copied to a
   growth buffer (its next, larger hash part), updates the copy of this key. If no node for the copy
   is free, frees the buffer: t is then resized like any other table. */
void luaN_keymoved_ (lua_State *L, const Table *t, const Node *from, const Node *to) {
  luaN_Growth *w = luaN_growthof(G(L), t);
  unsigned i, k;
  if (w == NULL) return;
  i = cast_uint(from - t->node);
  k = cast_uint(to - t->node);
  if (i < w->copied && w->copyof[i] != LUAN_NOCOPY) {
    if (k < w->copied) {
      Node *n = w->node + w->copyof[i];
      luaN_setcopy(n, luaN_mainof(n), k);
      w->copyof[k] = w->copyof[i];
      w->copyof[i] = LUAN_NOCOPY;
    }
    else dropcopy(w, i);  /* copysome has not visited node k yet, and will copy its key */
  }
  else if (k < w->copied && !copyagain(w, k)) luaN_endgrowth(G(L));
}


/* To be called after node n of the nearly full t has received a new key. If t has a growth buffer
   (its next, larger hash part), continues to fill it, and frees it if it has no free node. If t has
   none, allocates one if the next resize will probably double the nodes. */
void luaN_keycame_ (lua_State *L, Table *t, const Node *n) {
  global_State *g = G(L);
  luaN_Growth *w = luaN_growthof(g, t);
  unsigned left = cast_uint(t->lastfree - t->node), i = cast_uint(n - t->node);
  if (w == NULL) {
    if (luaN_has(LUAN_GROWTHAHEAD) && left > 0 &&
        left + GROWTHWINDOW > cast_uint(sizenode(t) / LUAN_GROWTHPART) && g->heap.rehashing != t &&
        willdouble(t))
      luaN_begingrowth(g, t, left);
    return;
  }
  w->iswanted = 1;
  if ((i < w->copied && !copyagain(w, i)) || !growon(w, left)) luaN_endgrowth(g);
}


/* To be called when the growth buffer, with copies of most keys, is to become the hash part of the
   table. Gives each copy the value of its old node (the node of the present hash part from which
   the key was copied). Removes a copy if its old node is empty or has another key now.

   Makes a list of the old nodes that have a value and no copy, and returns their number. Sets
   *first to the index of the first node of the list. If old node i is in the list, copyof[i] is the
   index of the next node of the list. LUAN_NOCOPY in *first or copyof[i] ends the list. */
static unsigned fillcopies (luaN_Growth *w, uint32_t *first) {
  unsigned i, n = 0;
  *first = LUAN_NOCOPY;
  for (i = 0; i < w->size; i++) {
    const Node *old = w->old + i;
    uint32_t at = w->copyof[i];
    unsigned ahead = i + 4 * LUAN_PREFETCH_DISTANCE;
    if (ahead < w->size && w->copyof[ahead] != LUAN_NOCOPY)
      __builtin_prefetch(w->node + w->copyof[ahead], 1);
    if (at != LUAN_NOCOPY) {
      Node *copy = w->node + at;
      if (!isempty(gval(old)) && keytt(old) == keytt(copy) && keyival(old) == keyival(copy)) {
        copy->u.value_ = old->u.value_;
        copy->u.tt_ = old->u.tt_;
        continue;
      }
      dropcopy(w, i);
    }
    if (!isempty(gval(old))) {
      w->copyof[i] = *first;
      *first = i;
      n++;
    }
  }
  return n;
}


/* Resizes t to its growth buffer, a hash part of twice the size to which most keys were copied in
   advance; then inserts the other keys. Returns 0, with t unchanged, if t has no such buffer, if
   memory is short, or if more than 5/8 of the buffer's nodes would be in use.

   In the last case, the next resize of t would come too soon: the buffer has twice the nodes of t,
   so the keys of t need at most half of its nodes. Thus over 1/8 of its nodes would contain keys
   that were removed from t after they had been copied. */
int luaN_grownow (lua_State *L, Table *t, unsigned asize, unsigned hsize) {
  global_State *g = G(L);
  luaN_Growth *w = luaN_growthof(g, t);
  Table old;
  Node *next = (w != NULL) ? w->node : NULL;
  size_t before = luaN_vectorbytes(t);
  uint32_t i;
  if (w == NULL || asize != t->alimit || luaO_ceillog2(hsize) != t->lsizenode + 1 ||
      !growon(w, 0) || fillcopies(w, &i) + w->used > w->size + w->size / 4 ||
      !luaN_adoptgrowth(L, w))
    return 0;
  luaN_resizing(L, t, next, 2 * (size_t)sizenode(t) * sizeof(Node));
  old = *t;
  t->node = next;
  t->lsizenode++;
  t->lastfree = w->lastfree;
  while (i != LUAN_NOCOPY) {  /* there are enough free nodes: no insertion resizes the table */
    TValue key;
    getnodekey(L, &key, w->old + i);
    luaH_set(L, t, &key, cast(TValue *, gval(w->old + i)));
    i = w->copyof[i];
  }
  luaN_endgrowth(g);
  luaN_resized(L, t, before, t->array, asize, &old);
  luaN_release(L, old.node, (size_t)sizenode(&old) * sizeof(Node), LUAN_VHASH);
  return 1;
}
