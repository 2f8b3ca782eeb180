/* SPDX-License-Identifier: MIT */
/*
** Rehash in place: a full hash part that keeps its size, for keys come to it and others go
** (room.c), gets the nodes of those that have gone back where it lies, and no other vector. The
** hash of a key stands in a string that no cache has; here most keys are not looked at.
**
** A chain is a list of nodes, none of which is in two. A key's chain begins at its main position,
** or goes through it: a key that comes to a main position whose key has gone takes its node, and
** what is behind that stays behind it. So a node that is empty may be where later keys of the
** chain are looked for. It gets one of these, as luaH_newkey moves a key, and that one's node is
** left out in its stead; where there is none, the empty node itself is. Keys in front of all that
** is empty stay where they are, and so does what remembers their slots; a chain that has lost
** nothing but its end needs no hash.
**
** What is empty then and has none behind it is a chain of its own, and free. An empty node that
** others are behind, and that is behind none, gets a key in the same way, or is left by a chain
** that has no key for it; in a large table only where little is empty, or else too little would
** become free, for all keys behind it have to be looked at.
**
** A chain of very many nodes (keys that were chosen for it) is not tidied: the hash part is made
** anew. So at least half of what is empty becomes free by a rehash, which is paid for by the keys
** that come behind it, as before. At any time between two chains all keys are found.
*/
#ifndef luaN_inplace_h
#define luaN_inplace_h

/* Nodes of the longest chain that is tidied. */
#define LONGESTCHAIN	32u

/* The second and third node of a chain are fetched so many nodes ahead, and as many; the keys
   while so many other chains wait for theirs. */
#define NODESAHEAD	32u
#define CHAINSWAITING	16u

/* Nodes of the least hash part that is large: no cache has its keys. */
#if defined(LUAI_ASSERT)
#define LEASTLARGE	128
#else
#define LEASTLARGE	65536
#endif

#define setfree(n)	(setempty(gval(n)), setnilkey(n), gnext(n) = 0)


/* A key moves to node n, which is empty, and keeps its place in the chain. */
static void movekey (lua_State *L, Table *t, Node *from, Node *n) {
  int next = gnext(n);
  *n = *from;
  gnext(n) = next;
  setempty(gval(from));
  luaN_nodebarrier(L, t, n, NULL);
}


/* Do all keys behind the first of n nodes have their main positions there, too? */
static int isapart (Node *const *node, Node *const *mp, unsigned n) {
  unsigned i, j;
  for (i = 1; i < n; i++) {
    if (mp[i] == NULL) continue;
    for (j = i; j > 0 && node[j] != mp[i]; j--) ;
    if (j == 0) return 0;
  }
  return 1;
}


/* Takes what is empty behind p out of the chain; p, when it is empty itself, gets a key whose main
   position it is, or is left by a chain that does not need it. 0: the chain is too long. */
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


/* Fetches the keys behind p. */
static void fetchchain (const Node *p) {
  unsigned n = 0;
  while (gnext(p) != 0 && n++ < LONGESTCHAIN) {
    p += gnext(p);
    if (!isempty(gval(p)) && keyisshrstr(p)) __builtin_prefetch(keystrval(p));
  }
}


/* Chains that begin with what is empty are tidied too where little is, or with 'heads'. 0: one is
   too long. */
static int tidychains (lua_State *L, Table *t, int heads) {
  Node *waiting[CHAINSWAITING] = {NULL};
  unsigned i, k = 0, empty = 0, size = (unsigned)sizenode(t);
  for (i = 0; i < size; i++) {
    Node *p = gnode(t, i), *second = p + gnext(p);
    if (i + 2 * NODESAHEAD < size) {
      const Node *ahead = p + NODESAHEAD;
      ahead += gnext(ahead);
      __builtin_prefetch(ahead + gnext(ahead), 1);
      ahead = p + 2 * NODESAHEAD;
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
    if (waiting[k] != NULL && !tidychain(L, t, waiting[k])) return 0;
    fetchchain(p);
    waiting[k] = p;
    k = (k + 1) % CHAINSWAITING;
  }
  for (i = 0; i < CHAINSWAITING; i++)
    if (waiting[i] != NULL && !tidychain(L, t, waiting[i])) return 0;
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


/* What is empty and a chain of its own is free. Is that less than half of that? */
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


/*
** t, whose hash part is full, is to have 'hsize' nodes and an array part of 'asize' slots. 1: it
** has them, and nodes are free. 0: it needs other vectors.
*/
static int rehashinplace (lua_State *L, Table *t, unsigned asize, unsigned hsize) {
  if (isdummy(t) || asize != limitasasize(t) || luaO_ceillog2(hsize) != t->lsizenode) return 0;
  luaN_leavegrowth(G(L), t);
  if (!tidychains(L, t, sizenode(t) < LEASTLARGE)) return 0;
  if (freenodes(t)) {  /* too few */
    if (!tidychains(L, t, 1)) return 0;
    freenodes(t);
  }
  lua_assert(findsall(t));
  return 1;
}

#endif
