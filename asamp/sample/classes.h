/* SPDX-License-Identifier: MIT */
/*
** Determines the class of an object from its metatable: the string in __name, or else the path to
** the metatable or to its __index table. A path starts with a global ("Point") or a loaded module
** ("geometry") and continues with fields ("geometry.Point"). The path with the fewest fields is
** taken; among several of these, one that starts with a global; then the bytewise smallest.
**
** Classes are determined inside a collection, when nothing may be allocated in the Lua state. So
** tables are read by address. Maps keyed by table address contain only old tables (which a
** collection has marked). These die only in major collections; classes_forgetdead then removes
** them.
**
** An index maps tables to paths. It is rebuilt when a metatable has no class. A budget limits the
** number of table slots read to build it: one slot for each CLASSES_BYTES bytes that the state
** allocates.
*/
#ifndef asamp_classes_h
#define asamp_classes_h

#include "lua.h"

#include "idmap.h"
#include "bounds.h"

enum {
  /* Largest number of table slots that are read to build the map Classes.index, which finds the
     name of a table. */
  CLASSES_SLOTS = 16384,
  /* Allocated bytes per table slot: each time the Lua state has allocated CLASSES_BYTES bytes, one
     more table slot may be read to build the map Classes.index (Classes.saved grows by 1). */
  CLASSES_BYTES = 4096,
  /* Upper bound of Classes.saved, the number of table slots that may be read to build the map
     Classes.index. The bound is CLASSES_SAVED times the cost of building the map once: the number
     of slots read at the last build, or LEASTSLOTS (classes.c) if that is more. */
  CLASSES_SAVED = 8,
  CLASSES_NAME = 255	/* Largest length of a class name, bytes. */
};

/* A Lua table that has a name: a path of fields from _G or package.loaded, such as "shapes.Circle".
   The name is stored as its last component and the path before it. */
typedef struct ClassName {
  const void *table;	/* Address of the Lua table. */
  /* Index in Classes.names of the path without its last component; UINT32_MAX: the path has only
     one component. */
  uint32_t parent;
  uint32_t text, length;	/* Last component of the path: offset in Classes.text, and bytes.
                                   0 bytes: the path is the same as that of 'parent'. */
  /* Properties of the path.
     depth  number of fields from the root to the table, at least 1
     root   the table where the path starts; 0: _G, 1: package.loaded */
  unsigned char depth, root;
} ClassName;

/* The classes of a session. */
typedef struct Classes {
  IdMap known;		/* Maps addresses of metatables to numbers of classes. */
  IdMap index;		/* Maps addresses of Lua tables to indexes in 'names'. */
  ClassName *names;
  size_t nnames, names_size;
  char *text;
  size_t ntext, text_size;
  uint64_t made;	/* All bytes that the state had allocated when 'saved' was last updated. */
  uint64_t saved;	/* Number of table slots that may still be read to build the map
                           'index'. */
  /* Number of table slots read to build the map 'index'; 0: it was not built yet. */
  uint64_t slots;
  /* 1: the session's last collection is running. Because no later collection can build the map
     'index', it may be built even if 'saved', the budget of table slots to read, is too small. */
  int final;
  IdMap ids;		/* Maps the hash of a class name to the newest class with that hash. */
  struct ClassText {
    char *name;
    uint32_t next;	/* Next older class with the same hash, or 0. */
  } *classes;		/* Class number i is element i - 1. */
  uint32_t n, size;
  uint64_t lumped;	/* Number of samples whose class has no number of its own, because
                           CLASSES_MAX classes exist. */
  void (*emit) (void *ud, uint32_t id, const char *name);	/* Reports the name of each new
                                                                   class. */
  void *ud;
} Classes;

/* Starts a session. From now on, classes_of calls 'emit' for each new class, with its number: 1, 2,
   and so on. */
void classes_start (Classes *c, void (*emit) (void *ud, uint32_t id,
                                              const char *name), void *ud);
void classes_close (Classes *c);

/* Empties the two maps 'known' and 'index', whose keys are addresses of tables. Call it if tables
   may have been freed without a call of classes_forgetdead. */
void classes_forget (Classes *c);

/* Empties *c except 'emit' and 'ud', in the child of a fork. Does not free memory, because another
   thread may have been changing *c when the program forked. */
void classes_forgetall (Classes *c);

/* Removes the dead tables from the two maps 'known' and 'index'. Call it in each major collection,
   after marking. */
void classes_forgetdead (Classes *c, lua_State *L);

/* Returns the number of the class of the object 'owner'. Returns 0 if it has no class, if its class
   has no name yet, or if out of memory. */
uint32_t classes_of (Classes *c, lua_State *L, const void *owner);

#endif
