/* SPDX-License-Identifier: MIT */
/*
** Weak tables and ephemerons, as marking meets them.
*/
#ifndef luaN_weak_h
#define luaN_weak_h

#include "mark.h"

enum { LUAN_STRONG, LUAN_WEAKVALUES, LUAN_EPHEMERON, LUAN_ALLWEAK };

/* An entry of a list of weak tables: a table and its kind in the two low bits. */
#define luaN_tagged(t,kind)	((void *)((uintptr_t)(t) | (unsigned)(kind)))
#define luaN_tableof(p)	((Table *)((uintptr_t)(p) & ~(uintptr_t)3))
#define luaN_kindof(p)	((int)((uintptr_t)(p) & 3))

LUAI_FUNC int luaN_weakness (global_State *g, const Table *t);

/* Is a value, the key of an entry dead? Strings are values: they never are. */
LUAI_FUNC int luaN_isgone (global_State *g, const TValue *v);
LUAI_FUNC int luaN_iskeygone (global_State *g, const Node *n);

/* A weak table has been met. Returns 0 when it must be taken for strong. */
LUAI_FUNC int luaN_meetweak (global_State *g, Table *t, int kind);

/* ... which is for the end of the major collection; once a table. 0: no memory. */
LUAI_FUNC int luaN_meetinmajor (global_State *g, Table *t, int kind);

/* A weak table with remembered slots. It may have been strong, or there was no memory
   to list it, when the major collection looked at it: that clears it all the same. */
LUAI_FUNC void luaN_meetlate (global_State *g, Table *t, int kind);

/* An entry with a weak key: its value is marked if the key is alive; else it waits
   for the end of marking. 0: there is no memory for that, its table must be met. */
LUAI_FUNC int luaN_openentry (global_State *g, Node *n);

/* Those that a major collection has met, which does not go on. */
LUAI_FUNC void luaN_forgetweak (global_State *g);

#endif
