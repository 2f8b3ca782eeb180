/* SPDX-License-Identifier: MIT */
/* Finds paths of references to owners (holders.h), in two walks over the objects. The first walk
   (luaN_walk) ends when all owners are reached; it records the parent of each object, that is, the
   object from which it was reached first. The owners and all their ancestors are called needed
   objects. The second walk (labelall) visits the references from needed objects, to name the steps
   of the paths. */
#include "holders.h"
#include "binding.h"
#include "clock.h"
#include "hash.h"
#include "heapformat.h"
#include "idmap.h"
#include "list.h"
#include "native.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE	UINT32_MAX	/* instead of an index in Work.list or Work.objects: no object */
/* Placeholder for the name of a C function in the text of a step. The function's address follows,
   as 16 hexadecimal digits. holders_named replaces both by the name. */
#define CODE	"\1code "

/* A needed object: an owner or one of its ancestors. */
typedef struct Needed {
  /* Index in Work.list of the object's parent, from which it was reached first; until luaN_walk
     returns, the parent's index in Work.objects. NONE: the object is a root. */
  uint32_t parent;
  uint32_t path;	/* Number of the object's path; 0: the empty path, or not determined yet. */
  /* If the object is a table: number of its string keys whose values are objects of Work.list with
     this table as parent. The count stops at HOLDERS_FIELDS + 1: if there are more than
     HOLDERS_FIELDS, all string keys are one step "[*]". */
  uint32_t fields;
  /* Number of objects in Work.list whose parent is this object and whose paths are not determined
     yet. Objects with 'isindexed' 1 are not counted, because they share one path. */
  uint32_t children;
  uint32_t elements;	/* Number of the path "[1..n]" of all objects in Work.list whose parent is
                           this object and whose 'isindexed' is 1; 0: not determined yet. */
  uint32_t key;		/* If the object is reachable only as a value in a table with weak keys:
                           index of that table in Work.list. Otherwise NONE. */
  /* Flags.
     done       1: 'path' is determined
     isroot     1: the object is a root
     isindexed  1: the object is an owner, and was reached first by an integer key of a table other
                than the registry */
  unsigned char done, isroot, isindexed;
  /* If the object is a Lua thread: number of stack slots of C functions whose values are objects of
     Work.list with this thread as parent. */
  uint32_t slots;
} Needed;

/* An object that the first walk did not reach from another object: a root of the garbage collector,
   or the value of an entry with a weak key. */
typedef struct Top {
  /* weak: the table with weak keys in which the object is a value; NULL: the object is a root. */
  const void *object, *weak;
  long long which;	/* Kind of the root (LUAN_R*). */
  uint32_t place;	/* Index of the object in Work.objects. */
} Top;

/* State of one search (holders_walk). */
typedef struct Work {
  lua_State *L;
  Holders *h;
  HoldersMemory memory;
  uint64_t *filter;		/* Bit set of the owners (objects with which a sample's memory
                                   dies), indexed by luaN_watchbit. */
  /* log2 of the number of bits of 'filter'. The set has more than 16 bits for each owner, so that
     few other objects share an owner's bit; but at most 2^22. */
  unsigned filterlog;
  uint32_t *parent;		/* For each element of 'objects', the index of its parent. Valid
                                   only until the end of luaN_walk. */
  const void *const *objects;	/* All objects in the order of the walk. Valid only until the
                                   end of luaN_walk. */
  /* kept[i]: address of the needed object list[i], an owner (object with which a sample's memory
     dies) or an object on the path to an owner. */
  const void **kept;
  Top *tops;
  size_t ntops, topsize;
  /* Maps the address of an object in 'list' to its index in 'list', and the address of an owner
     without a path of its own (HO4) to the index of its ancestor. */
  IdMap needed;
  Needed *list;
  size_t nlist, listsize;
  const void *const *owners;	/* the array of h->n owners that was passed to holders_walk */
  /* Maps the address of each owner to a number. 0: the owner was not reached yet. 2 + 2 * i: it was
     reached, and i is its index in 'objects'. 3 + 2 * i: as before, by an integer key. */
  IdMap wanted;
  size_t absent;	/* number of owners that were not reached yet */
  IdMap known;		/* Maps a hash of a path to the path's number. The hash is computed from the
                           number of the path without its last step, and from that step's text. */
  size_t pathsize, textsize, keptsize;
  const void *registry, *globals, *loaded;
  uint32_t at;		/* Index in 'list' of the object that is being visited. */
  int counting;		/* 1: the visits of the references from list[at] only set its fields
                           'fields' and 'slots', and determine no paths. */
  int counted;		/* 1: the fields 'fields' and 'slots' of list[at] are set. */
  const void *body;	/* If list[at] is a coroutine: the outermost function on its stack. */
  int bodyknown;		/* 1: 'body' is determined for list[at] */
  /* Bit set of the needed objects (owners and their ancestors), indexed by luaN_watchbit. Another
     object may have the same bit as a needed one. */
  uint64_t *nearly;
  /* log2 of the number of bits of 'nearly'. The set has more than 16 bits for each needed object,
     so that few other objects share a needed object's bit; but at most 2^26. */
  unsigned nearlylog;
  /* For each kind of reference (luaN_EdgeKind) from list[at]: if all references of this kind have
     the same text, such as "[1..n]" for integer keys, the number of the path that ends with this
     text. 0: no reference of this kind was visited yet, or their texts differ. */
  uint32_t alike[LUAN_ENAME + 1];
  int failed;
} Work;

static uint64_t holders_keyof (const void *p) {
  return (uint64_t)(uintptr_t)p;
}

/* {== the walk ========================================================= */

/* The allocation function of holders_find: malloc, with new blocks set to 0. */
static void *ordinary (void *ud, void *block, size_t old, size_t size) {
  (void)ud; (void)old;
  if (size == 0) {
    free(block);
    return NULL;
  }
  return block == NULL ? calloc(1, size) : realloc(block, size);
}

/* Callback by which luaN_walk allocates: calls the allocation function that was passed to
   holders_walk. */
static void *holders_memory (void *ud, void *block, size_t old, size_t size) {
  return ((Work *)ud)->memory(NULL, block, old, size);
}

/* Reserves space for n elements of 'element' bytes in *list, whose capacity is *size elements.
   Returns 0 if out of memory. */
static int holders_room (Work *w, void *list, size_t n, size_t *size, size_t element) {
  size_t more = *size * 2 > n ? *size * 2 : n + BOUND_FIRST(256);
  void *block;
  if (n <= *size) return 1;
  memcpy(&block, list, sizeof(block));
  block = w->memory(NULL, block, *size * element, more * element);
  if (block == NULL) return 0;
  memcpy(list, &block, sizeof(block));
  *size = more;
  return 1;
}

static void holders_release (Work *w, void *block, size_t size) {
  if (block != NULL) w->memory(NULL, block, size, 0);
}

/* Called by luaN_walk for each object that it has not reached from another object: a root, or a
   value in a table with weak keys. Adds the object to w->tops. Returns 0 if out of memory. */
static int holders_edge (void *ud, const luaN_Edge *e) {
  Work *w = ud;
  Top *t;
  if (!holders_room(w, &w->tops, w->ntops + 1, &w->topsize, sizeof(*w->tops))) return 0;
  t = &w->tops[w->ntops++];
  t->object = e->to;
  t->weak = e->kind == LUAN_EWEAKKEY ? e->in : NULL;
  t->which = e->index;
  t->place = (uint32_t)e->place;
  return 1;
}

/* Called by luaN_walk for each reached object that may be an owner. place: index of the object in
   Work.objects. kind: LUAN_EINDEX if it was reached by an integer key. If the object is an owner,
   stores 'place' and 'kind' in w->wanted. Returns 0 after the last owner, to end the walk. */
static int holders_reached (void *ud, const void *object, size_t place, luaN_EdgeKind kind) {
  Work *w = ud;
  if (idmap_get(&w->wanted, holders_keyof(object)) != 0 || place > NONE / 2 - 2) return 1;
  (void)idmap_set(&w->wanted, holders_keyof(object),
                  2 + 2 * (uint32_t)place + (kind == LUAN_EINDEX));
  return --w->absent > 0;
}

/* Returns the index in w->list of an object, or of the ancestor whose path is used for it
   (w->needed). Returns NONE if the object is neither an owner nor an ancestor of an owner. */
static uint32_t holders_known (const Work *w, const void *o) {
  return idmap_get(&w->needed, holders_keyof(o));
}

/* Marks the object w->objects[place] and its ancestors in 'bits', which has one bit for each
   element of w->objects. */
static void need (const Work *w, uint64_t *bits, uint32_t place) {
  for (; place != NONE && !(bits[place / 64] >> place % 64 & 1); place = w->parent[place])
    bits[place / 64] |= UINT64_C(1) << place % 64;
}

static int enlist (Work *w, uint32_t place) {
  Needed *n;
  if (!holders_room(w, &w->list, w->nlist + 1, &w->listsize, sizeof(*w->list)) ||
      !holders_room(w, &w->kept, w->nlist + 1, &w->keptsize, sizeof(*w->kept)) ||
      !idmap_set(&w->needed, holders_keyof(w->objects[place]), (uint32_t)w->nlist))
    return 0;
  n = &w->list[w->nlist];
  memset(n, 0, sizeof(*n));
  n->key = NONE;
  n->parent = w->parent[place];
  n->isroot = n->parent == NONE;
  w->kept[w->nlist++] = w->objects[place];
  return 1;
}

/* Appends to w->list those of the n elements of w->objects whose bits are set in 'bits', in the
   order of w->objects. Returns 0 if out of memory. */
static int list (Work *w, const uint64_t *bits, size_t n) {
  size_t i;
  for (i = 0; i < n; i += 64) {
    uint64_t word = bits[i / 64];
    for (; word != 0; word &= word - 1)
      if (!enlist(w, (uint32_t)(i + (size_t)__builtin_ctzll(word)))) return 0;
  }
  return 1;
}

/* For each object that was reached only as a value in a table with weak keys, sets its element of
   w->parent to the index of this table. n: number of elements of w->objects. Returns 0 if out of
   memory. */
static int weakparents (Work *w, size_t n) {
  IdMap keys = {0};
  size_t i, nweak = 0;
  int ok = 1;
  keys.memory = w->memory;
  for (i = 0; i < w->ntops && ok; i++)
    if (w->tops[i].weak != NULL) {
      ok = idmap_set(&keys, holders_keyof(w->tops[i].weak), 0);
      nweak++;
    }
  for (i = 0; i < n && ok && nweak > 0; i++)
    if (idmap_get(&keys, holders_keyof(w->objects[i])) != IDMAP_NONE)
      ok = idmap_set(&keys, holders_keyof(w->objects[i]), (uint32_t)i);
  for (i = 0; i < w->ntops && ok; i++)
    if (w->tops[i].weak != NULL)
      w->parent[w->tops[i].place] = idmap_get(&keys, holders_keyof(w->tops[i].weak));
  idmap_free(&keys);
  return ok;
}

/* For each of the n objects that is more than HOLDERS_DEPTH references from a root, replaces the
   parent by the ancestor that is HOLDERS_DEPTH references from the root. Returns the index in
   w->objects of the first such object; n: there is none. */
static uint32_t shorten (Work *w, uint32_t n) {
  uint32_t i, deep, depth = 0, level = 0;  /* level: index of the first object at 'depth' */
  for (deep = 0; deep < n; deep++)
    if (w->parent[deep] != NONE && w->parent[deep] >= level) {
      if (++depth > HOLDERS_DEPTH) break;
      level = deep;
    }
  for (i = deep; i < n; i++)
    if (w->parent[i] != NONE && w->parent[i] >= deep) w->parent[i] = w->parent[w->parent[i]];
  return deep;
}

/* Returns the index in w->objects of the object whose path is used for the owner: that of the owner
   itself if it is below 'deep' (the result of shorten), otherwise that of the owner's parent, which
   shorten has set. Returns NONE if the owner was not reached. */
static uint32_t ancestor (const Work *w, uint32_t deep, const void *owner) {
  uint32_t at = idmap_get(&w->wanted, holders_keyof(owner));
  if (at == IDMAP_NONE || at == 0) return NONE;
  at = at / 2 - 1;
  return at < deep || w->parent[at] == NONE ? at : w->parent[at];
}

static void done (void *ud, const void *const *objects, uint32_t *parents, size_t n) {
  Work *w = ud;
  uint32_t deep = 0;
  size_t i, size = (n / 64 + 1) * sizeof(uint64_t);
  uint64_t *bits = w->memory(NULL, NULL, 0, size);
  w->objects = objects;
  w->parent = parents;
  w->failed = bits == NULL || !weakparents(w, n);
  if (!w->failed) deep = shorten(w, (uint32_t)n);
  for (i = 0; i < w->h->n && !w->failed; i++) need(w, bits, ancestor(w, deep, w->owners[i]));
  w->failed = w->failed || !list(w, bits, n);
  holders_release(w, bits, size);
  for (i = 0; i < w->ntops && !w->failed; i++) {
    uint32_t at = holders_known(w, w->tops[i].object);
    if (at != IDMAP_NONE && w->tops[i].weak != NULL)
      w->list[at].key = holders_known(w, w->tops[i].weak);
  }
  for (i = 0; i < w->nlist && !w->failed; i++) {
    Needed *o = &w->list[i];
    uint32_t at = idmap_get(&w->wanted, holders_keyof(w->kept[i]));
    if (o->isroot) continue;
    o->isindexed = at != IDMAP_NONE && (at & 1) && objects[o->parent] != w->registry;
    o->parent = holders_known(w, objects[o->parent]);
    w->list[o->parent].children += !o->isindexed;
  }
  for (i = 0; i < w->h->n && !w->failed; i++) {
    uint32_t place = ancestor(w, deep, w->owners[i]);
    if (place == NONE || objects[place] == w->owners[i]) continue;
    w->h->cut++;
    w->failed = !idmap_set(&w->needed, holders_keyof(w->owners[i]),
                           holders_known(w, objects[place]));
  }
}

/* }===================================================================== */

/* {== steps =========================================================== */

/* Ends a truncated string of size - 1 bytes with "…", after a complete UTF-8 character. */
static void cut (char *s, size_t size) {
  size_t n = size - sizeof("…");
  while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80) n--;
  memcpy(s + n, "…", sizeof("…"));
}

/* Like snprintf, but ends a truncated result with "…". */
static void format (char *to, size_t size, const char *form, ...) {
  va_list args;
  int n;
  va_start(args, form);
  n = vsnprintf(to, size, form, args);
  va_end(args);
  if (n > 0 && (size_t)n >= size) cut(to, size);
}

/* Copies the text of a string object; ends a truncated text with "…". */
static void textof (Work *w, const void *string, char *to, size_t size) {
  luaN_Object o;
  size_t n;
  to[0] = '\0';
  if (string == NULL) return;
  luaN_object(w->L, string, &o);
  n = o.text == NULL ? 0 : o.length < size ? o.length : size - 1;
  if (n > 0) memcpy(to, o.text, n);
  to[n] = '\0';
  if (n > 0 && o.length >= size) cut(to, size);
}

/* Writes the name of the Lua function with prototype 'proto'. If 'proto' is not a prototype, writes
   CODE and the address 'code' of a C function, which holders_named later replaces by the function's
   name; "a C function" if 'code' is NULL. */
static void holders_function (Work *w, const void *proto, const void *code, char *to, size_t size) {
  luaN_Object o;
  char name[48], source[110];
  const char *s = source;
  memset(&o, 0, sizeof(o));
  if (proto != NULL) luaN_object(w->L, proto, &o);
  if (proto == NULL || o.kind != LUAN_KPROTO) {
    if (code == NULL) format(to, size, "a C function");
    else format(to, size, CODE "%016llx", (unsigned long long)(uintptr_t)code);
    return;
  }
  textof(w, o.name, name, sizeof(name));
  textof(w, o.source, source, sizeof(source));
  s = source[0] == '@' || source[0] == '=' ? source + 1 : "a string";
  if (o.line == 0) format(to, size, "main chunk (%s)", s);
  else if (name[0] == '\0') format(to, size, "%s:%d", s, o.line);
  else format(to, size, "%s (%s:%d)", name, s, o.line);
}

/* Writes the text of the step from a Lua thread to the value of a stack slot that has no variable
   name. */
static void holders_slot (Work *w, const luaN_Edge *e, char *to, size_t size) {
  char in[180];
  if (e->index == 0) {
    format(to, size, "running function");
    return;
  }
  holders_function(w, e->in, e->code, in, sizeof(in));
  if (e->code == NULL || w->list[w->at].slots > HOLDERS_FIELDS)
    format(to, size, "stack of %s", in);
  else format(to, size, "stack of %s, slot %d", in, (int)e->index);
}

/* Writes the text of the step from a Lua thread to the value of a local variable of a function that
   the thread runs, such as 'local "t" of f (app.lua:1)'. 'main': 1 for the main thread, 0 for a
   coroutine. */
static void local (Work *w, const luaN_Edge *e, int main, char *to, size_t size) {
  char in[96], body[85], name[48];
  luaN_Object o;
  holders_function(w, e->in, NULL, in, sizeof(in));
  textof(w, e->key, name, sizeof(name));
  body[0] = '\0';
  if (!main && w->body != NULL) {
    luaN_object(w->L, w->body, &o);
    if (o.kind == LUAN_KCCLOSURE) holders_function(w, NULL, o.function, body, sizeof(body));
    else if (o.function != e->in) holders_function(w, o.function, NULL, body, sizeof(body));
  }
  format(to, size, "local \"%s\" of %s%s%s%s", name, in, main ? "" : ", coroutine",
           body[0] != '\0' ? " of " : "", body);
}

/* Writes the text of the step for the reference *e from w->list[w->at]. Writes "" if the previous
   step already describes the reference. Sets *top to 1 if a path starts with this step, such as
   "package.loaded". */
static void words (Work *w, const luaN_Edge *e, char *to, size_t size, int *top) {
  char in[180], name[48];
  luaN_Object o;
  const Needed *from = &w->list[w->at];
  *top = 0;
  switch (e->kind) {
    case LUAN_EMETATABLE: format(to, size, "metatable"); break;
    case LUAN_EINDEX:
      *top = e->from == w->registry;
      format(to, size, "%s", e->from != w->registry ? "[1..n]" : e->index == 1 ? "main thread"
               : e->index == 2 ? "_G" : "reference of luaL_ref");
      break;
    case LUAN_EFIELD:
      textof(w, e->key, name, sizeof(name));
      if (e->from == w->registry && strcmp(name, "_LOADED") == 0) {
        *top = 1;
        format(to, size, "package.loaded");
      }
      else if (e->from == w->loaded) {
        *top = 1;
        format(to, size, "package.loaded[\"%s\"]", name);
      }
      else if (from->fields > HOLDERS_FIELDS && e->from != w->globals && e->from != w->registry)
        format(to, size, "[*]");
      else format(to, size, "[\"%s\"]", name);
      break;
    case LUAN_EENTRY: format(to, size, "[*]"); break;
    case LUAN_EKEY: format(to, size, "key"); break;
    case LUAN_EWEAKKEY: format(to, size, "[*] (weak key)"); break;
    case LUAN_EUPVALUE:
      holders_function(w, e->in, e->code, in, sizeof(in));
      textof(w, e->key, name, sizeof(name));
      if (name[0] != '\0') format(to, size, "upvalue \"%s\" of %s", name, in);
      else format(to, size, "upvalue %d of %s", (int)e->index, in);
      break;
    case LUAN_EVALUE: to[0] = '\0'; break;
    case LUAN_EUSERVALUE: format(to, size, "user value %d", (int)e->index); break;
    case LUAN_ELOCAL: case LUAN_ESTACK:
      luaN_object(w->L, e->from, &o);
      *top = o.main;
      if (e->kind == LUAN_ELOCAL) local(w, e, o.main, to, size);
      else holders_slot(w, e, to, size);
      break;
    case LUAN_EOPEN: format(to, size, "open upvalue"); break;
    case LUAN_EPROTO: format(to, size, "code"); break;
    case LUAN_ECONSTANT: format(to, size, "constant"); break;
    default: format(to, size, "name"); break;
  }
}

/* }===================================================================== */

/* {== paths ============================================================ */

static const char *steptext (const Work *w, uint32_t path) {
  return w->h->text + w->h->paths[path].at;
}

/* Returns the number of the path that consists of the path 'parent' and 'step'; adds the path if it
   is new. Returns 'parent' if the step is empty, equals the last step of 'parent', or would exceed
   a limit (HO2). If out of memory, sets w->failed and returns 0. */
static uint32_t path (Work *w, uint32_t parent, const char *step) {
  Holders *h = w->h;
  size_t n = strlen(step) + 1;
  uint64_t key;
  uint32_t id;
  if (n == 1 || (parent != 0 && strcmp(steptext(w, parent), step) == 0)) return parent;
  if (parent != 0 && h->paths[parent].depth >= READER_MAXSTEPS) {
    h->cut++;
    return parent;
  }
  key = hash_bytes(step, strlen(step)) * 31 + parent;
  key = (key ^ key >> 31) * UINT64_C(0x9e3779b97f4a7c15);
  if (key == 0) key = 1;
  id = idmap_get(&w->known, key);
  if (id != IDMAP_NONE) return id;
  if (h->npaths > READER_MAXPATHS) {
    h->left++;
    return parent;
  }
  if (!holders_room(w, &h->paths, h->npaths + 1, &w->pathsize, sizeof(*h->paths)) ||
      !holders_room(w, &h->text, h->ntext + n, &w->textsize, 1) ||
      !idmap_set(&w->known, key, h->npaths)) {
    w->failed = 1;
    return 0;
  }
  h->paths[h->npaths].parent = parent;
  h->paths[h->npaths].depth = parent == 0 ? 1 : h->paths[parent].depth + 1;
  h->paths[h->npaths].at = (uint32_t)h->ntext;
  memcpy(h->text + h->ntext, step, n);
  h->ntext += n;
  return h->npaths++;
}

/* Returns the path to which the caller appends the step for the reference *e: usually 'parent', the
   path to the object that has the reference. If *e is an upvalue of the function f, and 'parent'
   ends with the step ["f"], returns 'parent' without this step: the new step 'upvalue "x" of f'
   also names f. */
static uint32_t holders_before (Work *w, const luaN_Edge *e, uint32_t parent) {
  const HolderPath *p = &w->h->paths[parent];
  luaN_Object o;
  char name[48], step[80];
  if (e->kind != LUAN_EUPVALUE || parent == 0 || e->in == NULL) return parent;
  luaN_object(w->L, e->in, &o);
  textof(w, o.name, name, sizeof(name));
  snprintf(step, sizeof(step), "[\"%s\"]", name);
  return strcmp(steptext(w, parent), step) == 0 ? p->parent : parent;
}

static int isstar (const char *step) {
  return strcmp(step, "[*]") == 0;
}

/* Makes the bit set w->nearly, by which holders_label checks fast whether an object may be in
   w->list. Returns 0 if out of memory. */
static int setnearly (Work *w) {
  size_t i;
  for (w->nearlylog = 10; w->nearlylog < 26 && 16 * w->nlist >> w->nearlylog > 0; )
    w->nearlylog++;
  w->nearly = w->memory(NULL, NULL, 0, (size_t)1 << w->nearlylog >> 3);
  for (i = 0; i < w->nlist && w->nearly != NULL; i++) {
    unsigned bit = luaN_watchbit(w->kept[i], w->nearlylog);
    w->nearly[bit / 64] |= UINT64_C(1) << bit % 64;
  }
  return w->nearly != NULL;
}

static int holders_label (void *ud, const luaN_Edge *e);

/* Sets the fields 'fields' and 'slots' of w->list[w->at] by visiting all references from this
   object. */
static void count (Work *w) {
  w->counted = w->counting = 1;
  luaN_edges(w->L, w->kept[w->at], holders_label, w);
  w->counting = 0;
}

/* Visits a reference from the object w->list[w->at]. Does nothing if the reference does not lead to
   a child of this object in w->list that has no path yet. If w->counting is 0, sets the child's
   path: the path of this object and one step; returns 0 to stop the visits after the last child or
   a failure. If w->counting is 1, only counts the reference in the field 'fields' or 'slots';
   returns 0 if 'fields' exceeds HOLDERS_FIELDS. */
static int holders_label (void *ud, const luaN_Edge *e) {
  Work *w = ud;
  uint32_t to, above;
  unsigned bit;
  Needed *n;
  char step[HOLDERS_TEXT + 1];
  int top;
  if (e->kind == LUAN_ESTACK && !w->bodyknown && e->index >= 0) {
    w->body = e->index == 0 ? e->to : NULL;
    w->bodyknown = 1;
  }
  if (w->counting && e->kind != LUAN_EFIELD && e->kind != LUAN_ESTACK) return 1;
  bit = luaN_watchbit(e->to, w->nearlylog);
  if (!(w->nearly[bit / 64] >> bit % 64 & 1) ||
      (to = holders_known(w, e->to)) == IDMAP_NONE) return 1;
  n = &w->list[to];
  if (n->isroot || n->isindexed || n->done || n->parent != w->at || e->kind == LUAN_EWEAKKEY)
    return 1;
  if (w->counting) {
    w->list[w->at].fields += e->kind == LUAN_EFIELD;
    w->list[w->at].slots += e->kind == LUAN_ESTACK && e->code != NULL;
    return w->list[w->at].fields <= HOLDERS_FIELDS;
  }
  if (!w->counted && (e->kind == LUAN_EFIELD || e->kind == LUAN_ESTACK)) count(w);
  n->done = 1;
  w->list[w->at].children--;
  if (w->alike[e->kind] != 0) {
    n->path = w->alike[e->kind];
    return w->list[w->at].children > 0;
  }
  words(w, e, step, sizeof(step), &top);
  above = top ? 0 : holders_before(w, e, w->list[w->at].path);
  n->path = path(w, above, step);
  if (!top && (e->kind == LUAN_EINDEX || e->kind == LUAN_EENTRY || e->kind == LUAN_EKEY ||
               (e->kind == LUAN_EFIELD && isstar(step))))
    w->alike[e->kind] = n->path;
  return w->list[w->at].children > 0 && !w->failed;
}

/* Gives each root of the garbage collector a path with one step. */
static void labelroots (Work *w) {
  char step[HOLDERS_TEXT + 1];
  size_t i;
  for (i = 0; i < w->ntops && !w->failed; i++) {
    uint32_t at = holders_known(w, w->tops[i].object);
    if (w->tops[i].weak != NULL || at == IDMAP_NONE || !w->list[at].isroot) continue;
    heapformat_root(w->tops[i].which, step, sizeof(step));
    w->list[at].path = path(w, 0, step);
    w->list[at].done = 1;
  }
}

/* Determines the path of the owner *n, whose 'isindexed' is 1. */
static void element (Work *w, Needed *n) {
  Needed *table = &w->list[n->parent];
  if (table->elements == 0) table->elements = path(w, table->path, "[1..n]");
  n->path = table->elements;
  n->done = 1;
}

/* Determines the paths of all needed objects (owners and their ancestors), parents before
   children. */
static void labelall (Work *w) {
  size_t i;
  for (i = 0; i < w->nlist && !w->failed; i++) {
    w->at = (uint32_t)i;
    if (w->list[i].isindexed) element(w, &w->list[i]);
    if (w->list[i].key != NONE) {
      w->list[i].path = path(w, w->list[w->list[i].key].path, "[*] (weak key)");
      w->list[i].done = 1;
    }
    w->counted = 0;
    w->body = NULL;
    w->bodyknown = 0;
    memset(w->alike, 0, sizeof(w->alike));
    if (w->list[i].children > 0) luaN_edges(w->L, w->kept[i], holders_label, w);
  }
}

/* }===================================================================== */

/* Finds the registry, _G and package.loaded. The string keys of these three tables are never merged
   to one step "[*]" (HO3). */
static void landmarks (Work *w) {
  luaN_Entry loaded;
  w->registry = luaN_registry(w->L);
  w->globals = luaN_globals(w->L);
  w->loaded = luaN_field(w->L, w->registry, "_LOADED", &loaded) ? loaded.table : NULL;
}

/* Adds an owner to the sets w->filter and w->wanted, unless it is NULL. */
static void holders_want (Work *w, const void *owner) {
  unsigned bit = luaN_watchbit(owner, w->filterlog);
  if (owner == NULL) return;
  w->filter[bit / 64] |= UINT64_C(1) << bit % 64;
  if (!idmap_set(&w->wanted, holders_keyof(owner), 0)) w->failed = 1;
}

int holders_walk (Holders *h, lua_State *L, const void *const *owners, size_t n,
                  HoldersMemory memory_) {
  Work w;
  luaN_Walker walker = {&w, holders_memory, NULL, holders_edge, NULL, 0, holders_reached, done};
  size_t i;
  memset(h, 0, sizeof(*h));
  h->start = clock_now();
  memset(&w, 0, sizeof(w));
  w.L = L;
  w.h = h;
  w.memory = w.needed.memory = w.wanted.memory = w.known.memory = memory_;
  h->ids = memory_(NULL, NULL, 0, (n + 1) * sizeof(*h->ids));
  h->n = n;
  w.owners = owners;
  for (w.filterlog = 10; w.filterlog < 22 && 16 * n >> w.filterlog > 0; ) w.filterlog++;
  walker.wanted = w.filter = memory_(NULL, NULL, 0, (size_t)1 << w.filterlog >> 3);
  walker.log2 = w.filterlog;
  w.failed = h->ids == NULL || w.filter == NULL ||
             !holders_room(&w, &h->paths, 1, &w.pathsize, sizeof(*h->paths));
  h->npaths = 1;
  for (i = 0; i < n && !w.failed; i++) holders_want(&w, owners[i]);
  w.absent = w.wanted.n;
  landmarks(&w);
  if (!w.failed && luaN_walk(L, &walker) != LUAN_WALKED) w.failed = 1;
  w.failed = w.failed || !setnearly(&w);
  if (!w.failed) {
    labelroots(&w);
    labelall(&w);
  }
  for (i = 0; i < n && !w.failed; i++) {
    uint32_t at = owners[i] != NULL ? holders_known(&w, owners[i]) : IDMAP_NONE;
    if (at != IDMAP_NONE) h->ids[i] = w.list[at].path;
  }
  h->nanoseconds = clock_since(h->start);
  holders_release(&w, w.filter, (size_t)1 << w.filterlog >> 3);
  if (w.nearly != NULL) holders_release(&w, w.nearly, (size_t)1 << w.nearlylog >> 3);
  holders_release(&w, (void *)w.kept, w.keptsize * sizeof(*w.kept));
  holders_release(&w, w.tops, w.topsize * sizeof(*w.tops));
  holders_release(&w, w.list, w.listsize * sizeof(*w.list));
  idmap_free(&w.needed);
  idmap_free(&w.wanted);
  idmap_free(&w.known);
  return !w.failed;
}

/* {== names of C functions ============================================= */

/* In the text of a path's last step, replaces the placeholder CODE and the address of a C function
   by the function's name. 'mark' points to the placeholder. Appends the new text to h->text, whose
   capacity is *size bytes. Returns 0 if out of memory. */
static int holders_named (Holders *h, uint32_t path, const char *mark, size_t *size) {
  char name[120], file[8], text[HOLDERS_TEXT + 1];
  const char *step = h->text + h->paths[path].at;
  uintptr_t code = (uintptr_t)strtoull(mark + sizeof(CODE) - 1, NULL, 16);
  size_t n;
  native_name(NULL, native_id((void *)code), name, sizeof(name), file, sizeof(file));
  n = (size_t)snprintf(text, sizeof(text), "%.*s%s%s%s", (int)(mark - step), step,
                       name[0] != '\0' ? "C function " : "a C function", name,
                       mark + sizeof(CODE) - 1 + 16) + 1;
  n = n < sizeof(text) ? n : sizeof(text);
  if (!list_room(&h->text, h->ntext + n, size, 1)) return 0;
  h->paths[path].at = (uint32_t)h->ntext;
  memcpy(h->text + h->ntext, text, n);
  h->ntext += n;
  return 1;
}

int holders_name (Holders *h) {
  uint32_t i;
  size_t size = h->ntext;
  for (i = 1; i < h->npaths; i++) {
    const char *mark = strstr(h->text + h->paths[i].at, CODE);
    if (mark != NULL && strlen(mark) >= sizeof(CODE) - 1 + 16 && !holders_named(h, i, mark, &size))
      return 0;
  }
  for (i = 1; i < h->npaths; i++) h->paths[i].step = h->text + h->paths[i].at;
  return 1;
}

/* }===================================================================== */

int holders_find (Holders *h, lua_State *L, const void *const *owners, size_t n) {
  if (holders_walk(h, L, owners, n, ordinary) && holders_name(h)) {
    h->nanoseconds = clock_since(h->start);
    return 1;
  }
  holders_free(h);
  return 0;
}

void holders_free (Holders *h) {
  free(h->paths);
  free(h->text);
  free(h->ids);
  memset(h, 0, sizeof(*h));
}
