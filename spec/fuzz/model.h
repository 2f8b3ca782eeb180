/* SPDX-License-Identifier: MIT */
/*
** The shadow model of one Lua state: the contents of every slot, field, upvalue and stack, in
** plain C structs outside of the collector. It predicts which objects must be alive (reach.c);
** actions change Lua and the model in the same way (objects.c, threads.c, collect.c, bulk.c) and
** check.c compares the two.
**
** The model reads from Lua only where a weak table or a collection may have removed something;
** every difference ends the process through 'wrong'.
**
** Invariant: two nodes of the model never share an address, and a node whose address was reused
** ('gone') is never reachable.
*/
#ifndef fuzz_model_h
#define fuzz_model_h

#include <stddef.h>

#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

typedef struct Node Node;

typedef enum Tag {
  V_DELETED = -1, V_NIL, V_BOOL, V_INT, V_FLOAT, V_LIGHT, V_STRING, V_NODE
} Tag;

/*
** A Lua value. A string is represented by a number, from which 'strings_text' computes its
** content.
*/
typedef struct Value {
  Tag tag;
  union { long long i; double n; Node *node; } u;
} Value;

typedef struct Entry { Value key, value; unsigned seen; } Entry;

/* A hash table with open addressing; 'used' counts deleted entries, too, 'count' does not. */
typedef struct Map { Entry *entry; unsigned size, used, count; } Map;

typedef enum Kind {
  N_TABLE, N_USERDATA, N_CCLOSURE, N_GET, N_SET, N_KEEP, N_CELL, N_STACK, N_COROUTINE
} Kind;

#define MODE_KEYS	1
#define MODE_VALUES	2

/* The fixed metatables: mode + 4 * finalizer. */
enum { FIN_NONE, FIN_PLAIN, FIN_REVIVE, FIN_KINDS };
#define METATABLES	(4 * FIN_KINDS)
#define mt_mode(m)	((m) < 0 ? 0 : (m) % 4)
#define mt_fin(m)	((m) < 0 ? FIN_NONE : (m) / 4)

/* A call of 'body' (threads.c) in a coroutine. */
typedef struct Frame {
  Node *cell[3], *get, *set;
  Value tbc, command, x;
  Node *cell4, *keep;	/* the block of command 7; NULL outside of it */
} Frame;

#define FRAMES	16

struct Node {
  Kind kind;
  unsigned id, index;	/* index in w.node */
  const void *address;
  unsigned marks;	/* the sets that contain it: REACH_... */
  unsigned visited;	/* the last check that visited it */
  char fin;		/* marked for finalization, and its finalizer was not called yet */
  char maybe;		/* was unreachable and is resurrected: its finalizer may be called */
  char revived;		/* was resurrected: weak tables may have lost its entries */
  char gone;		/* its address was reused for another object */
  int mt;		/* fixed metatable, or -1 */
  Node *meta;		/* a table of the model as metatable, or NULL */
  unsigned long seq;	/* order of marking for finalization */
  int closers;		/* calls of __close that are still due */
  char open;		/* N_CELL: on the stack of a coroutine */
  char closable;	/* some coroutine will close it: it keeps __close */
  Map map;		/* N_TABLE */
  Value *value;		/* user values, upvalues, stack; N_CELL: one */
  int n;
  Node *cell[3];	/* N_GET, N_SET, N_KEEP: upvalues */
  size_t size;		/* N_USERDATA: bytes, ... */
  size_t outside;	/* its external bytes */
  Frame *frame;		/* N_COROUTINE: FRAMES of them */
  int frames;
};

#define REACH_NOW	1u	/* strongly reachable, for certain */
#define REACH_POSSIBLE	2u	/* strongly reachable, perhaps */
#define REACH_FINAL	4u	/* REACH_POSSIBLE, and from objects pending finalization */
#define REACH_AFTER	8u	/* REACH_POSSIBLE after a collection */
#define REACH_HELD	16u	/* gone, but a node that may be reachable refers to it */

#define LOCALS	14	/* slots in each frame of the fuzzer */
#define GLOBALS	48	/* slots in the registry; the last REVIVED are for resurrected objects */
#define REVIVED	8
#define SLOTS	(LOCALS + GLOBALS)
#define DEPTH	12

typedef struct World {
  unsigned long seed, action, actions;
  Value local[DEPTH + 1][LOCALS];
  int depth;
  Value global[GLOBALS];
  int ref[GLOBALS], mtref[METATABLES], makeref, bodyref, deepref, trampref;
  Node **node;
  unsigned nodes, nodesize, maxnodes, lastid;
  unsigned stamp;
  unsigned long marked;	/* 1 + the action for which REACH_NOW was computed */
  unsigned long seq;
  unsigned long *log;	/* 'seq' of the finalizers called since the log was emptied */
  unsigned logged, logsize;
  int closing, collecting;
  int noempty, noopenjoin, noswitch;	/* options: main.c */
  int finalizing;	/* in __gc, which may raise an error */
  unsigned lost;	/* calls of __gc that failed for lack of memory */
  int generational, stopped;
  int flooded;		/* raw stores may have made a collection overdue */
  int strict;		/* no cycle has started since the last full one */
  lua_State *queue;
  int a, b;		/* parameters of the protected part of an action */
  unsigned string;
  /* figures */
  unsigned long collections, finalized, back, errors;
} World;

extern World w;

/* model.c */
void wrong (const char *format, ...)
  __attribute__((noreturn, format(printf, 1, 2)));
void *fresh (size_t bytes);
void random_seed (unsigned long seed);
unsigned random_below (unsigned n);	/* 0 for n = 0 */
int chance (unsigned n);		/* true once in n */
Value nil_value (void);
Value int_value (long long i);
Value node_value (Node *n);
int same (Value a, Value b);
Entry *map_find (Map *m, Value key);
void map_set (Map *m, Value key, Value value);
void map_remove (Map *m, Entry *e);
Entry *map_random (Map *m);
Node *node_new (Kind kind, const void *address);
Node *node_at (const void *address);	/* NULL when unknown */
void node_delete (Node *n);
Node *cell_new (const void *address, Value v);

/* strings.c */
void strings_init (unsigned long seed);
const char *strings_text (unsigned string, size_t *length);
unsigned strings_random (void);
const char *noise (unsigned id);	/* at least NOISE bytes */
#define NOISE	40000u
void push_scalar (lua_State *L, Value v);  /* for strings it may raise an error; not for nodes */
Value value_at (lua_State *L, int index);
void match (lua_State *L, int index, Value v, const char *where);

/* reach.c */
void reach (unsigned set);	/* from the roots */
void reach_final (void);	/* REACH_POSSIBLE and REACH_FINAL */
void reach_more (unsigned sets);	/* adds the contents of the nodes in these sets to
					   REACH_AFTER */
void reach_now (void);		/* REACH_NOW, computed at most once per action */
void reach_settled (void);	/* REACH_NOW; nodes with 'visited' set count as resurrected */
int reachable (Value v, unsigned sets);  /* 1 for values that are not nodes */
void revive (Node *n);		/* n is about to become reachable */

/* alloc.c */
typedef struct Allocator {
  size_t bytes, limit;
  unsigned long calls, failed, random;
  unsigned perMillion;
  int armed;
} Allocator;
extern Allocator memory;
void *allocate (void *ud, void *block, size_t old, size_t size);

/* slots and calls: main.c */
Value slot (int s);
void push_slot (lua_State *L, int s);
void store (lua_State *L, int s, Value v);	/* pops the value */
int any_slot (void);
int slot_of (unsigned kinds);		/* bit mask of Kind; -1: none */
int call (lua_State *L, lua_CFunction f, int args, int results);
int calm (lua_State *L, lua_CFunction f, int args, int results);
Node *slot_node (int s);
int run_frame (lua_State *L);

/* actions */
typedef void (*Action) (lua_State *L);
typedef struct Choice { Action action; unsigned weight; } Choice;
extern const Choice object_actions[], thread_actions[], collect_actions[],
  bulk_actions[], vector_actions[];
extern const luaL_Reg metamethods[];
extern const char thread_chunk[];
void on_warning (void *ud, const char *message, int more);
int lost_finalizer (Node *n);
void check (lua_State *L, int collected);
int may_vanish (const Node *n, const Entry *e);  /* needs REACH_NOW */
void full_collect (lua_State *L);
void check_invariants (lua_State *L);
void check_finalized (int ascents);

#endif
