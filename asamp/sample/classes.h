/* SPDX-License-Identifier: MIT */
/*
** Classes of objects: the name of a metatable. That is its field __name, else
** the name by which the metatable can be reached, else the name by which the
** table in its field __index can. Names: of a global ("Point"), of a loaded
** module ("geometry"), of a table's field ("geometry.Point", "geometry.new.mt";
** a field that begins with two underscores stands for its table). The shortest
** way counts, globals before modules, then the first in bytewise order.
**
** Everything here runs while the state decides fates (seam.h), when nothing may
** be allocated from it: tables are looked at by address.
**
** 'known' remembers the class of a metatable, 'index' the name of a table. What
** both hold was alive when it was put in, so old; the old die in major
** collections only, which say so (classes_forgetdead). So an address never
** stands for a table that came later.
**
** Index: made when a metatable has no other name, of at most CLASSES_SLOTS slots
** of tables, three levels deep. A program may have any number of metatables
** without a name, so what it may cost is bounded: one slot for every
** CLASSES_BYTES bytes that the program allocates, saved up for at most
** CLASSES_SAVED indexes. A name given after the last index is thus found late;
** 'final' finds it at the end.
*/
#ifndef asamp_classes_h
#define asamp_classes_h

#include "lua.h"

#include "idmap.h"
#include "bounds.h"

enum {
  CLASSES_SLOTS = 16384, CLASSES_BYTES = 4096, CLASSES_SAVED = 8,
  CLASSES_NAME = 255	/* bytes of a name */
};

typedef struct ClassName {	/* of a table of the index */
  const void *table;
  uint32_t parent;	/* its table, or UINT32_MAX */
  uint32_t text, length;	/* its own part of the name, in 'text' */
  unsigned char depth, root;
} ClassName;

typedef struct Classes {
  IdMap known;		/* metatable -> class */
  IdMap index;		/* table -> its place in 'names' */
  ClassName *names;
  size_t nnames, names_size;
  char *text;
  size_t ntext, text_size;
  uint64_t made;	/* bytes allocated when the index was made */
  uint64_t saved;	/* slots that may be looked at */
  uint64_t slots;	/* slots that the last index took */
  int final;		/* the last fates are decided: one index is free */
  IdMap ids;		/* hash of a name -> last class that has it */
  struct ClassText {
    char *name;
    uint32_t next;	/* class of the same hash, or 0 */
  } *classes;		/* class i is at i - 1 */
  uint32_t n, size;
  uint64_t lumped;	/* samples of classes beyond CLASSES_MAX */
  void (*emit) (void *ud, uint32_t id, const char *name);
  void *ud;
} Classes;

/* All zero is empty. A class gets its number, 1, 2, ..., when it is first met;
   'emit' is told then. */
void classes_begin (Classes *c, void (*emit) (void *ud, uint32_t id,
                                              const char *name), void *ud);
void classes_close (Classes *c);

/* Forgets addresses (collections went by unseen). */
void classes_forget (Classes *c);

/* Forgets everything but who is told, and frees nothing (a fork may have caught it). */
void classes_forgetall (Classes *c);

/* A major collection decides: forgets the dead. */
void classes_forgetdead (Classes *c, lua_State *L);

/* Class of an owner of samples; 0: it has none, or there is no memory. */
uint32_t classes_of (Classes *c, lua_State *L, const void *owner);

#endif
