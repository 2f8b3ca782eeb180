/* SPDX-License-Identifier: MIT */
/*
** The fuzzer's model of one Lua state: the contents of every slot, field, upvalue and stack, in
** plain C structs outside of the collector. A slot is a root: a variable of a stack frame, or a
** field of the registry. A node is the model of an object. The model predicts which objects must
** be alive (reach.c). Each action changes Lua and the model in the same way (objects.c,
** threads.c, collect.c, bulk.c), and check.c compares the two.
**
** The model reads from Lua only where a weak table or a collection may have removed something.
** The function 'wrong' reports a difference and ends the process.
**
** Invariant: two nodes never have the same address, except nodes with 'gone' set, whose addresses
** were reused. Such a node is never reachable.
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
** A Lua value in the model. A string is represented by a number, from which 'strings_text'
** computes its content.
*/
typedef struct Value {
  Tag tag;
  union { long long i; double n; Node *node; } u;
} Value;

typedef struct Entry { Value key, value; unsigned seen; } Entry;

/*
** A hash table with open addressing. 'used' is the number of entries including deleted ones;
** 'count' excludes them.
*/
typedef struct Map { Entry *entry; unsigned size, used, count; } Map;

typedef enum Kind {
  N_TABLE, N_USERDATA, N_CCLOSURE, N_GET, N_SET, N_KEEP, N_CELL, N_STACK, N_COROUTINE
} Kind;

#define MODE_KEYS	1
#define MODE_VALUES	2

/*
** Numbers of the metatables that exist from the start: weak mode + 4 * kind of finalizer. -1
** means no metatable.
*/
enum { FIN_NONE, FIN_PLAIN, FIN_REVIVE, FIN_KINDS };
#define METATABLES	(4 * FIN_KINDS)
#define mt_mode(m)	((m) < 0 ? 0 : (m) % 4)
#define mt_fin(m)	((m) < 0 ? FIN_NONE : (m) / 4)

/* The model of one call of the Lua function 'body' in a coroutine (threads.c). */
typedef struct Frame {
  Node *cell[3], *get, *set;
  Value tbc, command, x;
  Node *cell4, *keep;	/* upvalue and closure of command 7; NULL outside of its block */
} Frame;

#define FRAMES	16

struct Node {
  Kind kind;
  unsigned id, index;	/* index: position in w.node */
  const void *address;
  /* sets that contain the node: bits REACH_NOW and so on */
  unsigned marks;
  unsigned visited;	/* number of the last check that visited the node */
  char fin;		/* 1: the object has a finalizer that was not called yet */
  /*
  ** 1: the node was unreachable when a finalizer resurrected it; Lua may call its own finalizer
  */
  char maybe;
  /* 1: a finalizer has resurrected the node; collections may have removed its weak references */
  char revived;
  char gone;		/* 1: the address of the object was given to another object */
  int mt;		/* number of one of the fixed metatables, or -1 */
  /* the table of the model that is the node's metatable; NULL if it is one of the fixed ones */
  Node *meta;
  unsigned long seq;	/* rank in the order of marking for finalization */
  int closers;		/* number of calls of __close that are still due */
  char open;		/* N_CELL: the variable is still on the stack of a coroutine */
  /*
  ** 1: the object is in a variable to be closed of a coroutine, so that its metatable must keep
  ** __close
  */
  char closable;
  Map map;		/* N_TABLE */
  Value *value;		/* user values, upvalues or stack slots; an N_CELL (a variable) has one */
  int n;
  Node *cell[3];	/* for N_GET, N_SET and N_KEEP, which are functions: the cells of their upvalues */
  size_t size;		/* N_USERDATA: size of its block in bytes; other kinds: a size */
  size_t outside;	/* external bytes of a userdata */
  Frame *frame;		/* N_COROUTINE: FRAMES frames, of which 'frames' are in use */
  int frames;
};

/* certainly reachable by strong references */
#define REACH_NOW	1u
/* possibly reachable by strong references */
#define REACH_POSSIBLE	2u
#define REACH_FINAL	4u	/* REACH_POSSIBLE, or reachable from objects pending finalization */
#define REACH_AFTER	8u	/* REACH_POSSIBLE, computed after a collection */
#define REACH_HELD	16u	/* 'gone' is set, but a node that may be reachable refers to the node */

#define LOCALS	14	/* number of slots in each frame of the fuzzer */
/* number of slots in the registry; the last REVIVED of them are for resurrected objects */
#define GLOBALS	48
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
  /* 1 + the number of the action for which REACH_NOW was computed; 0: it must be computed again */
  unsigned long marked;
  unsigned long seq;
  unsigned long *log;	/* 'seq' of the finalizers called since the log was emptied */
  unsigned logged, logsize;
  int closing, collecting;
  int noempty, noopenjoin, noswitch;	/* options: main.c */
  int finalizing;	/* 1 while a __gc runs statements that may raise an error */
  unsigned lost;	/* number of calls of __gc that failed for lack of memory before on_gc ran */
  int generational, stopped;
  int flooded;		/* 1 after many raw stores, which may have made a collection overdue */
  int strict;		/* 1 if no collection has started since the last full one */
  lua_State *queue;
  /* parameters that an action passes to its protected C function */
  int a, b;
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
unsigned random_below (unsigned n);	/* returns a number from 0 to n - 1; 0 if n is 0 */
int chance (unsigned n);		/* returns 1 with probability 1 / n */
Value nil_value (void);
Value int_value (long long i);
Value node_value (Node *n);
int same (Value a, Value b);
Entry *map_find (Map *m, Value key);
void map_set (Map *m, Value key, Value value);
void map_remove (Map *m, Entry *e);
Entry *map_random (Map *m);
Node *node_new (Kind kind, const void *address);
/* returns the node of the Lua object at this address; NULL if unknown */
Node *node_at (const void *address);
void node_delete (Node *n);
Node *cell_new (const void *address, Value v);

/* strings.c */
void strings_init (unsigned long seed);
const char *strings_text (unsigned string, size_t *length);
unsigned strings_random (void);
/* returns the random bytes of the string with this number, at least NOISE of them */
const char *noise (unsigned id);
#define NOISE	40000u
/* v must not be a node; may raise an error if v is a string */
void push_scalar (lua_State *L, Value v);
Value value_at (lua_State *L, int index);
void match (lua_State *L, int index, Value v, const char *where);

/* reach.c */
void reach (unsigned set);	/* computes one set of nodes from the roots */
void reach_final (void);	/* computes REACH_POSSIBLE and REACH_FINAL */
/* adds the nodes reachable from the nodes in these sets (a bit mask) to REACH_AFTER */
void reach_more (unsigned sets);
void reach_now (void);		/* computes REACH_NOW if the current action has not done so */
void reach_settled (void);	/* computes REACH_NOW; nodes with 'visited' set count as resurrected */
/* returns 1 if v is not a node, or if its node is in one of the sets (a bit mask) */
int reachable (Value v, unsigned sets);
void revive (Node *n);		/* called before n becomes reachable again */

/* alloc.c */
typedef struct Allocator {
  size_t bytes, limit;
  unsigned long calls, failed, random;
  unsigned perMillion;
  int armed;
} Allocator;
extern Allocator memory;
void *allocate (void *ud, void *block, size_t old, size_t size);

/* functions of main.c on slots and calls */
Value slot (int s);
void push_slot (lua_State *L, int s);
/* stores the value at the top of the stack in slot s, and removes it from the stack */
void store (lua_State *L, int s, Value v);
int any_slot (void);
/* returns the index of a slot whose node has one of these kinds (a bit mask), or -1 */
int slot_of (unsigned kinds);
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
