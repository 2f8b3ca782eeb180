/* SPDX-License-Identifier: MIT */
/* Size of a hash part, and rehash in place (inplace.h). */

#include "lgc.h"
#include "ltable.h"

#include "growing.h"
#include "inplace.h"
#include "optional.h"

/* A table of at least MIN_SLOTS slots (array and hash part) gets at least one free node for each
   PART slots. A larger PART saves memory and makes rehashes more frequent. */
#define MIN_SLOTS	256u
#define PART	16u

/* Longest chain, in nodes, that a rehash in place handles. If a chain is longer, the rehash
   fails. */
#define LONGESTCHAIN	32u


/* A hash part with at least this number of nodes is large: its keys are probably in no CPU cache.
   Builds with assertions use a low number, so that tests reach this case. */
#if defined(LUAI_ASSERT)
#define LEASTLARGE	128
#else
#define LEASTLARGE	65536
#endif

#define setfree(n)	(setempty(gval(n)), setnilkey(n), gnext(n) = 0)


unsigned luaN_hashroom (const Table *t, unsigned asize, unsigned hashed) {
  size_t size = 1;
  if (hashed > (unsigned)allocsizenode(t) || asize > t->alimit)
    return hashed;
  while (size < hashed) size *= 2;
  if (asize + size < MIN_SLOTS) return hashed;
  while (size - hashed < (asize + size) / PART) size *= 2;
  return (size > MAX_INT) ? hashed : (unsigned)size;
}


/* Moves the entry of node 'from' to the empty node n. The links of both nodes stay the same. */
static void movekey (lua_State *L, Table *t, Node *from, Node *n) {
  int next = gnext(n);
  *n = *from;
  gnext(n) = next;
  setempty(gval(from));
  luaN_nodebarrier(L, t, n, NULL);
}


/* Returns 1 if node[0] is not needed to find the keys in node[1] to node[n - 1], the later nodes of
   its chain: the main position of each key is node[1] or a node after it, so no lookup of these
   keys passes node[0]. mp[i]: main position of the key in node[i]; NULL: node[i] has no key. */
static int isapart (Node *const *node, Node *const *mp, unsigned n) {
  unsigned i, j;
  for (i = 1; i < n; i++) {
    if (mp[i] == NULL) continue;
    for (j = i; j > 0 && node[j] != mp[i]; j--) ;
    if (j == 0) return 0;
  }
  return 1;
}


/*
** Removes empty nodes from a chain: visits node p, which may be in the middle of the chain, and the
** nodes after p. If an empty node is the main position of a key in a later node, moves this key to
** it; otherwise unlinks the node. Exception: an empty node p stays if a lookup of a later key may
** pass it, because the main position of the key is before p. (isapart returns 1 if no lookup of a
** later key reads p.) Returns 0 and does nothing if more than LONGESTCHAIN nodes are to be visited.
*/
static int tidychain (lua_State *L, Table *t, Node *p) {
  Node *node[LONGESTCHAIN], *mp[LONGESTCHAIN], *last;
  unsigned i, j, first = 0, n = 1;
  node[0] = p;
  while (gnext(p) != 0) {
    p += gnext(p);
    if (n == LONGESTCHAIN) return 0;
    mp[n] = isempty(gval(p)) ? NULL : mainpositionfromnode(t, p);
    node[n++] = p;
  }
  while (isempty(gval(node[first])) && isapart(node + first, mp + first, n - first)) {
    gnext(node[first]) = 0;
    if (++first == n) return 1;
  }
  last = node[first];
  for (i = first; i < n; i++) {
    p = node[i];
    if (isempty(gval(p))) {
      for (j = n - 1; j > i && mp[j] != p; j--) ;
      if (j > i) {
        movekey(L, t, node[j], p);
        mp[j] = NULL;
      }
      else if (i > first) {
        setfree(p);
        continue;
      }
    }
    gnext(last) = cast_int(p - last);
    last = p;
  }
  gnext(last) = 0;
  return 1;
}


/*
** Removes empty nodes from all chains of t. Returns 0 if a chain is too long. Prefetches the second
** and third nodes of chains.
**
** It is expensive to remove the empty first node of a chain if the second node is in use
** (inplace.h). If 'heads' is 0, removes such a first node only while fewer than a quarter of the
** nodes visited so far are empty.
*/
static int tidychains (lua_State *L, Table *t, int heads) {
  unsigned i, empty = 0, size = (unsigned)sizenode(t);
  for (i = 0; i < size; i++) {
    Node *p = gnode(t, i), *second = p + gnext(p);
    if (i + 4 * LUAN_PREFETCH_DISTANCE < size) {
      const Node *ahead = p + 2 * LUAN_PREFETCH_DISTANCE;
      ahead += gnext(ahead);
      __builtin_prefetch(ahead + gnext(ahead), 1);
      ahead = p + 4 * LUAN_PREFETCH_DISTANCE;
      __builtin_prefetch(ahead + gnext(ahead), 1);
    }
    empty += isempty(gval(p));
    if (second == p || !(isempty(gval(second)) ||
                         (isempty(gval(p)) && (heads || empty < i / 4)))) continue;
    if (gnext(second) == 0 && isempty(gval(second))) {
      setfree(second);
      gnext(p) = 0;
      continue;
    }
    if (!tidychain(L, t, p)) return 0;
  }
  return 1;
}


#if defined(LUAI_ASSERT)
static int findsall (Table *t) {
  int i;
  for (i = 0; i < sizenode(t); i++) {
    TValue key;
    Node *n = gnode(t, i);
    if (isempty(gval(n))) continue;
    getnodekey(cast(lua_State *, NULL), &key, n);
    if (luaH_get(t, &key) != gval(n)) return 0;
  }
  return 1;
}
#endif


/* Sets to nil the key of each empty node that is in no chain, or is the last node of its chain:
   getfreepos may then use the node for a new key. Resets lastfree, so that getfreepos searches all
   nodes again. Returns 1 if fewer than half of the empty nodes are free now. */
static int freenodes (Table *t) {
  unsigned i, empty = 0, nfree = 0;
  for (i = 0; i < (unsigned)sizenode(t); i++) {
    Node *n = gnode(t, i);
    if (!isempty(gval(n))) continue;
    empty++;
    if (gnext(n) != 0) continue;
    setnilkey(n);
    nfree++;
  }
  t->lastfree = gnode(t, sizenode(t));
  return 2 * nfree < empty;
}


int luaN_rehashinplace (lua_State *L, Table *t, unsigned asize, unsigned hsize) {
  if (!luaN_has(LUAN_INPLACE)) return 0;
  lua_assert(isrealasize(t));  /* the caller called setlimittosize */
  if (isdummy(t) || asize != t->alimit || luaO_ceillog2(hsize) != t->lsizenode) return 0;
  luaN_leavegrowth(G(L), t);
  if (!tidychains(L, t, sizenode(t) < LEASTLARGE)) return 0;
  if (freenodes(t)) {  /* result 1: too few nodes are free */
    if (!tidychains(L, t, 1)) return 0;
    freenodes(t);
  }
  lua_assert(findsall(t));
  return 1;
}
