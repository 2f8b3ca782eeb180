/* SPDX-License-Identifier: MIT */
/* Reads names of frames, types and classes, and makes functions from names of frames
   (readername.h). */
#include "readername.h"
#include "frameids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maps an id to 'value'. If the map has READER_MAXIDS entries, counts the id in ReadProfile.left
   instead and returns 0. Sets s->failed if out of memory. */
static int readername_enter (ReaderState *s, IdMap *m, uint64_t id, uint32_t value) {
  if (m->n >= READER_MAXIDS) {
    s->r->left[LEFT_IDS]++;
    return 0;
  }
  if (!idmap_set(m, id, value))
    s->failed = 1;
  return 1;
}

void readername_set (ReaderState *s, IdMap *m, uint64_t id, const char *text, size_t n) {
  if (idmap_get(m, id) != IDMAP_NONE)
    return;
  if (n > READER_MAXNAME) {
    s->r->left[LEFT_LONGNAMES]++;
    n = READER_MAXNAME;
  }
  readername_enter(s, m, id, strtab_put(&s->r->text, text, n));
}

/* Called when the name of frame 'id' was read, in a file of asamp. 'number': offset of the name in
   ReadProfile.text. If an earlier function has the same name, makes this frame's function an alias
   of it: if a program loads the same code many times, each load is another function in the file,
   but should be one function for the reader. If READER_MAXIDS other names have functions already,
   makes the function an alias of ReaderState.unnamed, which represents all further names. Returns 0
   if the caller must store the name of this frame, else 1. */
static int sameas (ReaderState *s, uint64_t id, uint32_t number) {
  uint32_t own = (uint32_t)(id / 8);
  uint32_t known = idmap_get(&s->byname, (uint64_t)number + 1);
  if (id / 8 >= IDMAP_NONE || known == own)
    return 0;
  if (known == IDMAP_NONE && s->byname.n < READER_MAXIDS) {
    if (!idmap_set(&s->byname, (uint64_t)number + 1, own))
      s->failed = 1;
    return 0;
  }
  if (known == IDMAP_NONE) {  /* READER_MAXIDS names are known already */
    s->r->left[LEFT_IDS]++;
    known = s->unnamed != 0 ? s->unnamed : (s->unnamed = own);
    if (known == own)
      return 1;
  }
  if (!aliases_set(&s->aliases, own, known))
    s->failed = 1;
  return 1;
}

void readername_add (ReaderState *s, uint64_t id, const char *text, size_t n) {
  StrTab *all = &s->r->text;
  uint32_t name, number;
  if (id == 0)
    return;
  name = idmap_get(&s->r->names, id);
  number = strtab_put(all, text, n);
  if (name != IDMAP_NONE) {
    if (strcmp(all->text + number, all->text + name) > 0 && !idmap_set(&s->r->names, id, number))
      s->failed = 1;
  }
  else if (!s->r->own || (id & 7) != 0 || !sameas(s, id, number))
    readername_enter(s, &s->r->names, id, number);
}

/* Sets the names of the types of blocks, from the meta records __rtype_N. Asamp's files of version
   6 lack these records. In these files, uses the names of the frame ids that represent types
   (frameids.h). */
static void namekinds (ReaderState *s) {
  ReadProfile *r = s->r;
  uint32_t i;
  for (i = READER_FIRSTKIND; i < r->nkinds; i++) {
    ReadKind *kind = &r->kinds[i];
    uint32_t name = idmap_get(&s->types, kind->type + 1);
    if (name != IDMAP_NONE)
      kind->name = name;
    else if (r->own &&
             (name = idmap_get(&r->names, frameids_type((int)kind->type))) != IDMAP_NONE) {
      char text[READER_MAXNAME + 1];  /* the name of the frame is "n:<type>:0:-"; the text is the
                                         part after "n:" */
      const char *from = r->text.text + name;
      from += strncmp(from, "n:", 2) == 0 ? 2 : 0;
      snprintf(text, sizeof(text), "%s", from);
      kind->name = strtab_put(&r->text, text, strcspn(text, ":"));
    }
  }
}

/* Used as the id of all frames without a name after the first READER_MAXNAMELESS ones, so that they
   are one function. */
#define OTHERS	UINT64_MAX

/* Returns the offset in ReadProfile.text of a frame's name; 0: the file has none. */
static uint32_t readername_named (const ReaderState *s, uint64_t id) {
  uint32_t name = id != 0 ? idmap_get(&s->r->names, id) : IDMAP_NONE;
  return name != IDMAP_NONE ? name : 0;
}

/* Returns the offset in ReadProfile.text of a name to be shown for a frame: its own name, or
   "[unknown 0x<id>]", or "[unknown]" for the id OTHERS. */
static uint32_t readername_nameof (ReaderState *s, uint64_t id) {
  uint32_t name = readername_named(s, id);
  char text[40];
  if (name != 0)
    return name;
  if (id != OTHERS)
    name = strtab_put(&s->r->text, text,
                      (size_t)sprintf(text, "[unknown 0x%llx]",
                                      (unsigned long long)id));
  return name != 0 ? name : s->unknown;
}

/* Data of functions() while it makes a list of functions from the nodes of the call tree. */
typedef struct Naming {
  /* Both map to indexes in ReadProfile.functions. The keys of 'byid' are frame ids + 1, those of
     'byname' offsets of names + 1. */
  IdMap byid, byname;
  uint32_t *text;      /* text[f]: name of function f, offset in ReadProfile.text */
  uint64_t *id;        /* id[f]: id of the first frame with the name of function f; the id shows
                          whether the function is native (framename_parse) */
} Naming;

/* Returns the index in ReadProfile.functions of the function with the name of frame 'id'; adds the
   function if needed. Returns IDMAP_NONE if out of memory. Must be called once for each id, because
   it counts the frames without a name. */
static uint32_t functionof (ReaderState *s, Naming *n, uint64_t id) {
  ReadProfile *r = s->r;
  uint32_t name = readername_nameof(s, id);
  uint32_t f = idmap_get(&n->byname, (uint64_t)name + 1);
  s->nameless += readername_named(s, id) == 0;
  if (f != IDMAP_NONE)
    return f;
  f = r->nfunctions;
  if (!idmap_set(&n->byname, (uint64_t)name + 1, f))
    return IDMAP_NONE;
  n->text[f] = name;
  n->id[f] = id;
  r->nfunctions++;
  return f;
}

/* Sets ReadProfile.fn, the function of every node of the call tree except the root. Returns 0 if
   out of memory. */
static int readername_number (ReaderState *s, Naming *n) {
  ReadProfile *r = s->r;
  uint32_t i;
  for (i = 1; i < r->tree.n; i++) {
    uint64_t id = r->tree.nodes[i].id, key = id + 1;
    uint32_t f = idmap_get(&n->byid, key);
    if (f == IDMAP_NONE && readername_named(s, id) == 0 && s->nameless >= READER_MAXNAMELESS) {
      r->left[LEFT_NAMELESS]++;
      id = key = OTHERS;
      f = idmap_get(&n->byid, key);
    }
    if (f == IDMAP_NONE) {
      f = functionof(s, n, id);
      if (f == IDMAP_NONE || !idmap_set(&n->byid, key, f))
        return 0;
    }
    r->fn[i] = f;
  }
  return 1;
}

/* Sets ReadProfile.functions and ReadProfile.fn. Frames with equal names are one function. Returns
   0 if out of memory. */
static int functions (ReaderState *s) {
  ReadProfile *r = s->r;
  Naming n;
  uint32_t i;
  int ok = 0;
  memset(&n, 0, sizeof(n));
  r->fn = calloc(r->tree.n, sizeof(*r->fn));
  n.text = malloc(r->tree.n * sizeof(*n.text));
  n.id = malloc(r->tree.n * sizeof(*n.id));
  if (r->fn != NULL && n.text != NULL && n.id != NULL && readername_number(s, &n)) {
    r->functions = calloc(r->nfunctions + (size_t)1, sizeof(*r->functions));
    ok = r->functions != NULL;
  }
  for (i = 0; ok && i < r->nfunctions; i++)
    framename_parse(&r->functions[i], r->text.text + n.text[i], n.id[i]);
  free(n.text);
  free(n.id);
  idmap_free(&n.byid);
  idmap_free(&n.byname);
  return ok;
}

int readername_finish (ReaderState *s) {
  namekinds(s);
  return functions(s) && !s->r->text.failed;
}
