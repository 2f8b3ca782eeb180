/* SPDX-License-Identifier: MIT */
/*
** Determines the class of an object, which is the name of its metatable: the string in the
** metatable's field __name; else the path to the metatable; else the path to the table in the
** metatable's field __index. Paths are names of globals ("Point"), of loaded modules ("geometry"),
** and of fields ("geometry.Point", "geometry.new.mt"; the table in a field whose name starts with
** two underscores has the path of the table that contains the field). Of several paths the one
** with the fewest levels of tables counts; of these, one from a global, then the bytewise smallest.
**
** classes_of and classes_forgetdead run in 'decide' of luaN_Sampler (seam.h). They must not
** allocate from the state, so they read tables by address.
**
** 'known' maps metatables to classes, 'index' maps tables to names. An entry is made only for a
** table that the collection leaves alive and thus tenures. Tenured objects die in major
** collections only, which call classes_forgetdead. So an address never refers to a later table.
**
** The index is built when neither __name nor the last index gives a metatable a class. It covers at
** most CLASSES_SLOTS slots of tables, three levels deep. A program may have many metatables without
** a name, so the cost of indexes is bounded: one slot may be read for every CLASSES_BYTES
** bytes that the program allocates, and this budget accumulates up to the cost of CLASSES_SAVED
** indexes. So a name given after the last index may be found late; 'final' permits one more index
** at the end.
*/
#ifndef asamp_classes_h
#define asamp_classes_h

#include "lua.h"

#include "idmap.h"
#include "bounds.h"

enum {
  CLASSES_SLOTS = 16384, CLASSES_BYTES = 4096, CLASSES_SAVED = 8,
  CLASSES_NAME = 255	/* Limits: slots read for one index; bytes of allocation that pay for
			   one slot; indexes whose cost can be saved; bytes of a name. */
};

typedef struct ClassName {	/* A table in the index. */
  const void *table;	/* Address of the table. */
  uint32_t parent;	/* Index in 'names' of the table whose path it extends, or UINT32_MAX. */
  uint32_t text, length;	/* Its last path component: offset in Classes.text, and bytes;
				   0 bytes: it has the path of 'parent'. */
  /* 'depth': levels from the root, from 1 on; 'root': 0: globals, 1: modules. */
  unsigned char depth, root;
} ClassName;

/* The classes of a session. */
typedef struct Classes {
  IdMap known;		/* Maps metatables to classes. */
  IdMap index;		/* Maps tables to indexes in 'names'. */
  ClassName *names;
  size_t nnames, names_size;
  char *text;
  size_t ntext, text_size;
  uint64_t made;	/* luaN_allocated when the budget was updated last. */
  uint64_t saved;	/* Budget: slots that may be read. */
  uint64_t slots;	/* Slots that the last index read; 0: there is no index. */
  int final;		/* 1: in the session's last collection; the next index needs no budget. */
  IdMap ids;		/* Maps the hash of a name to the newest class with that hash. */
  struct ClassText {
    char *name;
    uint32_t next;	/* Older class of the same hash, or 0. */
  } *classes;		/* Class i is stored at i - 1. */
  uint32_t n, size;
  uint64_t lumped;	/* Samples of classes beyond the limit, which share class CLASSES_MAX. */
  void (*emit) (void *ud, uint32_t id, const char *name);	/* Called for each new class. */
  void *ud;
} Classes;

/*
** Starts a session. Classes receive the numbers 1, 2, ... at first use; 'emit' is called for
** each new one. An all-zero Classes is valid.
*/
void classes_start (Classes *c, void (*emit) (void *ud, uint32_t id,
                                              const char *name), void *ud);
void classes_close (Classes *c);

/* Drops all addresses. Called if collections may have run without classes_forgetdead. */
void classes_forget (Classes *c);

/*
** Drops everything except 'emit', without freeing memory, which a fork may have caught in a
** change.
*/
void classes_forgetall (Classes *c);

/* Drops dead tables. Called in 'decide' of a major collection. */
void classes_forgetdead (Classes *c, lua_State *L);

/* Returns the class of a sample's owner; 0: it has none, none was found yet, or there is not enough
   memory. */
uint32_t classes_of (Classes *c, lua_State *L, const void *owner);

#endif
