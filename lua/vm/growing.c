/* SPDX-License-Identifier: MIT */
/* Copies keys of nearly full hash parts into growth buffers, and makes these the hash parts
   (growing.h). In this file, the buffer of a growth is the next, larger vector of nodes (a growth
   buffer). An old node is a node of the table's current hash part; its copy is the node of the
   buffer that has its key. */
#define LUA_CORE

#include "lprefix.h"

#include "lgc.h"
#include "lmem.h"
#include "lobject.h"
#include "lstate.h"
#include "ltable.h"

#include "growing.h"
#include "growth.h"
#include "optional.h"

/* largest number of nodes of a hash part (2^MAXHBITS of ltable.c) */
#define MOST_NODES	((size_t)1 << 30)

/*
** The copying of keys from a nearly full hash part to its growth buffer (the next hash part) starts
** only while getfreepos, which searches for a free node, has visited fewer than GROWTHWINDOW nodes
** since the hash part became nearly full (luaN_isnearlyfull). After more visits, too few insertions
** are left to copy all keys. luaN_keycame_ starts the copying, and its first call is usually early
** enough. That call may be too late if a resize has left few free nodes, or if the inline code of
** fields.h, which does not call luaN_keycame_, has inserted keys.
*/
#define GROWTHWINDOW	32

/* Number of nodes that willdouble reads in order to predict whether the next hash part of a nearly
   full table has twice the size. If two or more of the nodes are empty, the program removes keys:
   then the table may keep its size (luaN_hashroom) and not need a growth buffer. */
#define GROWTHPROBES	64u

/* If a table has an integer key from 1 to this number times its slots, willdouble predicts that the
   hash part will not just double: the key may move to the array part, so that the size of the next
   hash part is unknown. */
#define NEARINTEGERS	4u

/* Number of nodes of a nearly full hash part whose keys are copied to the growth buffer (the next
   hash part) at a time, while the keys of the next nodes are prefetched. */
#define COPYBLOCK	LUAN_PREFETCH_DISTANCE


/* Returns 1 if the next resize of t, which is nearly full, will probably double its nodes and
   keep its array part. Reads GROWTHPROBES of the nodes that getfreepos has visited. */
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


/* Returns a table for the computation of main positions in the buffer of w: its hash part is the
   buffer. The other members of the table are not set. */
static Table nextof (const luaN_Growth *w) {
  Table next;
  next.node = w->node;
  next.lsizenode = cast_byte(luaO_ceillog2(w->size) + 1);
  return next;
}


/* Removes the copy of the key of old node i, which must have one. The node of the copy gets a
   dead key and stays in its chain, where placecopy may reuse the node. */
static void dropcopy (luaN_Growth *w, unsigned i) {
  Node *n = w->node + w->copyof[i];
  setempty(gval(n));
  setdeadkey(n);
  gckey(n) = NULL;
  w->copyof[i] = LUAN_NOCOPY;
}


/* Returns a free node of the buffer, as getfreepos does. Returns NULL if there is none. */
static Node *freecopy (luaN_Growth *w) {
  while (w->lastfree > w->node) {
    w->lastfree--;
    if (keyisnil(w->lastfree)) return w->lastfree;
  }
  return NULL;
}


/* Returns a node of the buffer for a key whose main position is mp. Chooses and links the node as
   upstream's luaH_newkey does, but reads no keys of other nodes. Returns NULL if no node is
   free. */
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


/* Copies the key of old node i to the buffer. The old node must have a value and no copy. 'mp'
   is the main position of the key in the buffer. Returns 0 if no node of the buffer is free. */
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


/* Returns the main position of the key of old node i in the buffer, or NULL if the old node is
   empty. 'next' must be nextof(w). */
static inline Node *mainof (const luaN_Growth *w, const Table *next, unsigned i) {
  const Node *old = w->old + i;
  if (isempty(gval(old))) return NULL;
  if (keyisshrstr(old)) return gnode(next, keystrval(old)->hash & (unsigned)(sizenode(next) - 1));
  return mainpositionfromnode(next, cast(Node *, old));
}


/* Copies the keys of the next COPYBLOCK old nodes. Returns 0 if no node of the buffer is free. */
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


/* Copies the key of old node i, which has received another key and its value, to the buffer.
   Removes the copy of the earlier key, if there is one. Returns 0 if no node of the buffer is
   free. i must be less than w->copied, the number of old nodes whose keys were copied. */
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


/* Does the part of the work on the buffer that is due now: first initializes nodes of the
   buffer, then copies keys. The work done is in proportion to the number of nodes that
   getfreepos has visited since w was started; 'left' nodes are not visited yet. Returns 0 if no
   node of the buffer is free. */
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


/* Updates the buffer of t after a key was moved from node 'from' to node 'to' of t: the copy of
   the key belongs to the new node. Frees the buffer if it has no free node for the key. */
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
    else dropcopy(w, i);  /* copysome will copy the key when it visits node k */
  }
  else if (k < w->copied && !copyagain(w, k)) luaN_endgrowth(G(L), w);
}


/* Allocates a buffer for t if t will probably need twice the nodes. If t has a buffer, continues
   to fill it. Frees the buffer if it has no free node for a key. */
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
  if ((i < w->copied && !copyagain(w, i)) || !growon(w, left)) luaN_endgrowth(g, w);
}


/* Gives each copy the value of its old node, and removes the copies whose old node is empty or
   has another key. Returns the number of old nodes that have a value and no copy. Links these
   nodes into a list: *first is the index of its first node (LUAN_NOCOPY: none), 'copyof' has the
   links. */
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


/* Makes the buffer the hash part of t. Then inserts, one by one, the keys that have no copy,
   because the bytecode loop has inserted them (luaN_newfield of fields.h). Returns 0, and leaves
   t as it is, if more than 5/8 of the buffer's nodes would be in use after that. */
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
  while (i != LUAN_NOCOPY) {  /* no insertion resizes the table: there are enough free nodes */
    TValue key;
    getnodekey(L, &key, w->old + i);
    luaH_set(L, t, &key, cast(TValue *, gval(w->old + i)));
    i = w->copyof[i];
  }
  luaN_endgrowth(g, w);
  luaN_resized(L, t, before, t->array, asize, &old);
  luaN_release(L, old.node, (size_t)sizenode(&old) * sizeof(Node), LUAN_VHASH);
  return 1;
}
