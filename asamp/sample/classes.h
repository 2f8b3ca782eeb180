/* SPDX-License-Identifier: MIT */
/*
** Determines the class of an object. The class is the name of the object's metatable. The name is
** the string in the metatable's field __name. Without __name it is the path to the metatable, or
** else the path to the table in the metatable's field __index.
**
** A path starts with the name of a global ("Point") or of a loaded module ("geometry") and
** continues with names of fields ("geometry.Point", "geometry.new.mt"). A field whose name starts
** with two underscores adds nothing to the path. If a table has several paths, the path with the
** fewest levels of tables is taken; among these one from a global, then the bytewise smallest.
**
** classes_of and classes_forgetdead run in 'decide' of luaN_Sampler (seam.h). There they must not
** allocate from the state, so they read tables by address.
**
** 'known' maps metatables to classes, and 'index' maps tables to names. Both use addresses as
** keys, so an entry must be removed before its address is used again. An entry is made only for a
** table that the collection leaves alive and thus tenures. A tenured table can die only in a major
** collection, and each major collection calls classes_forgetdead.
**
** The index is built when neither __name nor the last index gives a class to a metatable. It
** covers at most CLASSES_SLOTS slots of tables, three levels deep.
**
** The cost of indexes is bounded, because a program may have many metatables without a name. One
** slot may be read for every CLASSES_BYTES bytes that the program allocates. This budget
** accumulates up to the cost of CLASSES_SAVED indexes. As a result, a name that the program gives
** after the last index may be found late. 'final' permits one more index at the end of the
** session.
*/
#ifndef asamp_classes_h
#define asamp_classes_h

#include "lua.h"

#include "idmap.h"
#include "bounds.h"

enum {
  CLASSES_SLOTS = 16384, CLASSES_BYTES = 4096, CLASSES_SAVED = 8,
  CLASSES_NAME = 255	/* Limits. CLASSES_SLOTS: slots read for one index; CLASSES_BYTES: bytes of
			   allocation that pay for one slot; CLASSES_SAVED: indexes whose cost can
			   be saved up; CLASSES_NAME: bytes of a name. */
};

typedef struct ClassName {	/* The name of a Lua table, as a path ("geometry.Point"). */
  const void *table;	/* Address of the Lua table. */
  /* Index in Classes.names of the Lua table that contains this one: its path and the component
     'text' form the path of this table. UINT32_MAX: the path has one component. */
  uint32_t parent;
  uint32_t text, length;	/* The last component of the path: offset in Classes.text, and
				   length in bytes. Length 0: the path is that of 'parent'. */
  /* 'depth' counts the levels of tables from the root, from 1 on. 'root' is 0 for globals, 1 for
     loaded modules. */
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
  uint64_t made;	/* Bytes that the state had allocated (luaN_allocated) when the budget
			   'saved' was last updated. */
  uint64_t saved;	/* Number of slots of Lua tables that may still be read to build indexes of
			   table names (the budget). */
  uint64_t slots;	/* Number of slots of Lua tables that were read to build the index of table
			   names; 0: there is no index. */
  /* 1: the session's last collection is running, and one more index of table names may be built
     even if the budget does not suffice. */
  int final;
  IdMap ids;		/* Maps the hash of a class name to the number of the newest class with that
			   hash. */
  struct ClassText {
    char *name;
    uint32_t next;	/* Next older class with the same hash, or 0. */
  } *classes;		/* Class i is stored at i - 1. */
  uint32_t n, size;
  uint64_t lumped;	/* Number of samples with classes beyond the limit, which share class
			   CLASSES_MAX. */
  void (*emit) (void *ud, uint32_t id, const char *name);	/* callback that reports the name of
								   each new class */
  void *ud;
} Classes;

/*
** Starts a session. Classes are numbered 1, 2, ... in the order of their first use, and 'emit' is
** called once for each. An all-zero Classes is valid.
*/
void classes_start (Classes *c, void (*emit) (void *ud, uint32_t id,
                                              const char *name), void *ud);
void classes_close (Classes *c);

/* Removes all entries that refer to tables by address. Must be called if a collection may have
   freed tables without a call of classes_forgetdead. */
void classes_forget (Classes *c);

/*
** Empties *c except 'emit' and 'ud', without freeing memory. Used in the child of a fork, because
** another thread may have been changing the memory at the fork.
*/
void classes_forgetall (Classes *c);

/* Removes the entries of dead tables. Called in 'decide' of a major collection. */
void classes_forgetdead (Classes *c, lua_State *L);

/* Returns the class of a sample's owner. Returns 0 if the owner has no class, if no name was found
   yet, or if there is not enough memory. */
uint32_t classes_of (Classes *c, lua_State *L, const void *owner);

#endif
