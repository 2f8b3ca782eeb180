/* SPDX-License-Identifier: MIT */
/* Walks the Lua stack and the C stack and merges them (stack.h). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"
#include "cnames.h"
#include "codefile.h"
#include "frameids.h"
#include "native.h"

#include "owner.h"
#include "stack.h"
#include "uncancelled.h"
#include "unwind.h"
#include "unwindpool.h"

#define MAXNATIVE	4096	/* largest number of native frames of a sample */
/* capacity of Stack.native, which also receives the frames of the walking functions themselves */
#define NATIVEROOM	(MAXNATIVE + UNWIND_OWN)
/* Largest number of elements of Stack.frames: MAXNATIVE native frames, LUAN_DEPTH Lua frames with a
   FRAME_TAIL each, one FRAME_CUT, and one frame for a running collection. */
#define NFRAMES		(MAXNATIVE + 2 * LUAN_DEPTH + 2)
/* bytes of the buffer in which stack_nameof composes a function's name: ["name"] if the name is not
   an identifier, "anonymous #n" if there is none */
#define KEYROOM		256
/* largest number of entries in the cache of line numbers (Stack.lines); a power of 2 */
#define NLINES		4096u
#define NLINES_FIRST	256u	/* number of entries of a new cache of line numbers; a power of 2 */

/* The function prototype id that was assigned last in the process. */
static unsigned int lastid;

void stack_close (Stack *s) {
  free(s->frames);
  free(s->native);
  free(s->known);
  free(s->outside);
#if defined(LUAN_DEBUG)
  free(s->reported);
#endif
  free(s->lines);
  functions_close(&s->functions);
  memset(s, 0, sizeof(*s));
}

int stack_ready (Stack *s) {
  StackEmit emit = s->emit;
  void *ud = s->ud;
  if (s->frames != NULL) return 1;
  UNCANCELLED;
  s->native = malloc(NATIVEROOM * sizeof(void *));
  s->lines = calloc(NLINES_FIRST, sizeof(*s->lines));
  s->linemask = NLINES_FIRST - 1;
  s->missed = 0;
  s->frames = malloc(NFRAMES * sizeof(*s->frames));
  /* Each malloc block contains two vectors. The first is filled from its end to its start, the
     second from its start, so that a stack with few frames touches few pages. */
  s->known = malloc(LUAN_DEPTH * (sizeof(*s->known) + sizeof(*s->lua)));
  s->outside = malloc(LUAN_DEPTH * (sizeof(*s->outside) + sizeof(*s->places)));
  if (functions_open(&s->functions) && s->frames != NULL && s->native != NULL && s->lines != NULL &&
      s->known != NULL && s->outside != NULL) {
    s->lua = (struct luaN_Frame *)(s->known + LUAN_DEPTH);
    s->places = s->outside + LUAN_DEPTH;
    return 1;
  }
  stack_close(s);
  s->emit = emit;
  s->ud = ud;
  return 0;
}

void stack_forget (Stack *s) {
  functions_forget(&s->functions);
  s->since = __atomic_load_n(&lastid, __ATOMIC_RELAXED);
  s->nknown = 0;
}

void stack_start (Stack *s, StackEmit emit, void *ud) {
  functions_start(&s->functions);
  s->emit = emit;
  s->ud = ud;
  s->since = __atomic_load_n(&lastid, __ATOMIC_RELAXED);
  s->nknown = 0;
}

static void push (Stack *s, uint64_t id, int line) {
  s->frames[s->n].id = id;
  s->frames[s->n].line = (uint32_t)line;
  s->n++;
}

/* Returns 1 if the name is an identifier. */
static int isidentifier (const char *name, size_t n) {
  size_t i;
  for (i = 0; i < n; i++)
    if (!isalpha((unsigned char)name[i]) && name[i] != '_' &&
        (i == 0 || !isdigit((unsigned char)name[i]))) return 0;
  return n > 0;
}

/* Returns the function's name. It is taken from the function's definition, not from a call, so it
   is the same for all calls. 'room' is a buffer of KEYROOM bytes. */
static const char *stack_nameof (const luaN_Frame *f, const lua_Debug *ar, char *room) {
  size_t n = 0;
  const char *name = luaN_name(f->function, &n);
  if (*ar->what == 'm') return "main chunk";
  if (name == NULL) {
    if (n <= 1) return "anonymous";
    snprintf(room, KEYROOM, "anonymous #%u", (unsigned)n);
    return room;
  }
  if (isidentifier(name, n)) return name;
  snprintf(room, KEYROOM, "[\"%.*s\"]", KEYROOM - 5, name);
  return room;
}

/* Returns the number (functions.h) of a Lua function that functions_cached has not found. Reports
   the function with s->emit if the number is new. The source is a file's path, a chunk's name, or
   "[stripped]". */
static uint32_t stack_number (Stack *s, const luaN_Frame *f) {
  lua_Debug ar;
  FunctionName n;
  char key[KEYROOM];
  uint32_t i;
  int isnew;
  memset(&ar, 0, sizeof(ar));
  ar.i_ci = f->ci;
  lua_getinfo(f->L, "S", &ar);
  n.name = stack_nameof(f, &ar, key);
  n.line = ar.linedefined;
  n.isfile = (*ar.source == '@' && ar.source[1] != '\0');
  n.source = n.isfile ? ar.source + 1
             : strcmp(ar.source, "=?") == 0 ? "[stripped]"
             : *ar.short_src == '\0' ? ar.source  /* for the source "=" or "@" */
             : ar.short_src;
  i = functions_number(&s->functions, *f->id, &n, &isnew);
  if (isnew) s->emit(s->ud, (uint64_t)i * 8, n.name, n.line, n.source);
  return i;
}

/* Counts a failed lookup in the cache of line numbers. When the count reaches the number of
   entries, replaces the cache by an empty one of 4 times the size, up to NLINES entries. */
static void growlines (Stack *s) {
  StackLine *more;
  if (++s->missed <= s->linemask || s->linemask >= NLINES - 1) return;
  s->missed = 0;
  if ((more = calloc((s->linemask + (size_t)1) * 4, sizeof(*more))) == NULL) return;
  free(s->lines);
  s->lines = more;
  s->linemask = s->linemask * 4 + 3;
}

static StackLine *lineat (const Stack *s, unsigned id, int pc) {
  return &s->lines[(id * 31u + (unsigned)pc) & s->linemask];
}

/* Determines the line number of a frame's current instruction, which is not in the cache. Enters
   the number in the cache and returns it. Not inlined, so that lineof is fast for cached
   numbers. */
static __attribute__((noinline)) int lookup (Stack *s, const luaN_Frame *f, unsigned id) {
  StackLine *l;
  growlines(s);
  l = lineat(s, id, f->pc);
  l->id = id;
  l->pc = f->pc;
  l->line = luaN_line(f->function, f->pc);
  return l->line;
}

/* Returns the line of a frame's current instruction, cached by function and pc. */
static int lineof (Stack *s, const luaN_Frame *f, unsigned id) {
  const StackLine *l = lineat(s, id, f->pc);
  return (l->id == id && l->pc == f->pc) ? l->line : lookup(s, f, id);
}

/* Pushes the frame f of a Lua function. At the prototype's first sample in the session, assigns the
   next higher id to the prototype: Functions.last requires that ids have the order of the first
   samples. */
static void pushlua (Stack *s, const luaN_Frame *f) {
  unsigned id = *f->id;
  uint32_t i;
  while (id == 0 || (int)(id - s->since) <= 0)
    id = *f->id = __atomic_add_fetch(&lastid, 1, __ATOMIC_RELAXED);
  i = functions_cached(&s->functions, id);
  push(s, (uint64_t)(i != 0 ? i : stack_number(s, f)) * 8, lineof(s, f, id));
}

static void pushnative (Stack *s, const void *address) {
  push(s, (s->inmalloc ? codefile_id(address) : native_id(address)) | 1, 0);
}

/* Pushes a native frame for a C function for which the walk found no frame. Its address is the
   function's + 1, because ids of native frames are odd. */
static void pushentry (Stack *s, const void *function) {
  pushnative(s, (const char *)function + 1);
}

/* Pushes FRAME_TAIL if a tail call has replaced the caller of f, and increments the index of f in
   s->places. Pushes FRAME_CUT if frames between f and the next frame are missing. */
static __attribute__((noinline)) void pushmarks (Stack *s, const luaN_Frame *f) {
  if (f->cut & LUAN_TAIL) {
    s->places[f - s->lua]++;
    push(s, FRAME_TAIL, 0);
  }
  if (f->cut & LUAN_CUT) push(s, FRAME_CUT, 0);
}

/* Pushes the frame *f if it is that of a Lua function, or if 'shown' is 1. Stores the index of the
   frame in s->places. Calls pushmarks, even if *f is not pushed. If *f is that of a C function,
   searches the function's name (cnames.h). */
static void pushframe (Stack *s, const luaN_Frame *f, int shown) {
  s->places[f - s->lua] = (uint32_t)s->n;
  if (f->id != NULL) pushlua(s, f);
  else if (f->function != NULL) {
    cnames_meet(f->L, f->function);
    if (shown) pushentry(s, f->function);
  }
  if (f->cut) pushmarks(s, f);
}

/* Pushes the Lua frames that one bytecode loop (luaV_execute) runs. They start at s->lua[i]; s->lua
   has n elements. Returns the index of the first element that the loop does not run. */
static size_t pushrun (Stack *s, size_t i, size_t n) {
  while (i < n && s->lua[i].id == NULL && !s->lua[i].last)
    pushframe(s, &s->lua[i++], 0);  /* a C function whose native frames are already pushed */
  while (i < n) {
    const luaN_Frame *f = &s->lua[i++];
    pushframe(s, f, 0);
    if (f->fresh || f->last) break;
  }
  return i;
}

/* Pushes the remaining frames of a coroutine, from s->lua[i] to its outermost one. Returns the
   index after them. Skips C functions, because the walk of the C stack has pushed their native
   frames. Exception: pushes a C function that has yielded, because it has no native frame.
   'called' 1: the walk has pushed native frames of s->lua[i]. Then the successive C functions from
   s->lua[i] on have native frames, too, except the outermost of them if it has yielded. */
static size_t pushrest (Stack *s, size_t i, size_t n, int called) {
  while (i < n) {
    const luaN_Frame *f = &s->lua[i++];
    called = called && i < n && s->lua[i].id == NULL;
    pushframe(s, f, !called && f->resumable && !f->last);
    if (f->last) break;
  }
  return i;
}

/* The native frames of a walk, innermost first. */
typedef struct Natives {
  void *const *a;		/* return addresses */
  int n;			/* number of return addresses in 'a' */
  /* The walk of the C stack, which hasmore continues to append further addresses to the array 'a'.
     NULL: 'a' is complete. */
  Unwind *more;
} Natives;

/* Value of Stack.unwind if there was no memory for a walk. Then there are no native frames. */
static Unwind nowhere;

/* Ends the walk of the C stack and returns its memory to the pool. */
static void stack_leave (Stack *s) {
  if (s->unwind != &nowhere) unwindpool_give(s->unwind);
  s->unwind = NULL;
}

/* Starts a walk of the C stack of the calling thread, which runs L. Sets *w to the return addresses
   that it has found; hasmore continues the walk. */
static void natives (Stack *s, lua_State *L, Natives *w) {
  luaN_Code code;
  w->a = s->native;
  w->n = 0;
  w->more = NULL;
  if (s->unwind == NULL) s->unwind = unwindpool_take();
  if (s->unwind == NULL) s->unwind = &nowhere;
  if (s->unwind == &nowhere) return;
  luaN_code(&code);
  owner_prime();
  unwind_start(s->unwind, code.core.from, code.core.to, owner_stackend());
  w->more = s->unwind;
  if (owner_mixed(L)) {  /* several states run on this C stack: owner_mark needs the whole stack to
                            find the frames of the other states */
    int n = 0, m;
    while ((m = unwind_more(w->more, s->native, n, NATIVEROOM)) > n) n = m;
    w->n = owner_mark(L, __builtin_frame_address(0), s->native, n, w->more->ended);
    w->more = NULL;
  }
}

/* Returns 1 if there is a native frame with index i. Continues the walk up to it if needed. */
static int hasmore (Stack *s, Natives *w, int i) {
  if (i >= w->n && w->more != NULL)
    w->n = unwind_more(w->more, s->native, w->n, NATIVEROOM);
  return i < w->n;
}

/* Pushes the native frames *w and the 'nlua' Lua frames in s->lua as one stack. A native frame of
   the bytecode loop (luaV_execute) is replaced by the Lua frames that the loop runs; a frame of
   lua_resume, by the remaining frames of its coroutine. Other frames of the Lua core are left out.
   'part' 1: stops when all Lua frames are pushed. Returns the number of Lua frames pushed. */
static size_t merge (Stack *s, size_t nlua, Natives *w, int part) {
  luaN_Code code;
  size_t i = 0, before;
  /* coroutines: number of coroutines whose lua_resume was reached. ended: number of coroutines
     whose frames are all pushed. */
  int j, coroutines = 0, ended = 0;
  /* 1: native frames were pushed since the last frame of luaV_execute or lua_resume. (Native frames
     are visited from the innermost outwards.) */
  int called = 0;
  luaN_code(&code);
  for (j = 0; !(part && i == nlua) && hasmore(s, w, j); j++) {
    const char *ip = (const char *)w->a[j] - 1;  /* an address in the call instruction. The
                                                    return address may be in the next function */
    const char *other = owner_marked(w->a[j]);
    if (other != NULL) pushnative(s, other - 1);
    else if (owner_isin(&code.execute, ip)) {
      before = i;
      i = pushrun(s, i, nlua);
      ended += (i > before && s->lua[i - 1].last);
      called = 0;
    }
    else if (owner_isin(&code.resume, ip)) {
      if (s->bare) s->bare = 0;
      else if (ended > coroutines++) { }  /* all frames of this coroutine were pushed already */
      else {
        i = pushrest(s, i, nlua, called);
        ended++;
      }
      called = 0;
      if (i > 0 && luaN_ismain(s->lua[i - 1].L)) s->resumed = 1;
    }
    else if (!owner_isin(&code.core, ip) && !owner_isin(&code.protect, ip)) {
      pushnative(s, ip);
      called = 1;
    }
  }
  return i;
}

/* Pushes the Lua frames from s->lua[i] on, after a walk of the C stack that has not reached their
   bytecode loops (luaV_execute). 'whole' 1: the walk reached the end of the stack. Skips C
   functions, because the walk has usually pushed their native frames. Exception: if 'i' is
   0, and a Lua function is among the frames or 'whole' is 0, the walk may have missed the native
   frames of the C functions, too, so pushes the C functions. Returns 1 if a Lua function is among
   the frames. */
static int pushothers (Stack *s, size_t i, size_t n, int whole) {
  int lost = 0, shown;
  size_t k;
  for (k = i; k < n; k++) lost = lost || s->lua[k].id != NULL;
  shown = (i == 0 && (lost || !whole));
  for (; i < n; i++) pushframe(s, &s->lua[i], shown);
  return lost;
}

/* Prepares s for the merge of the n Lua frames in s->lua with native frames: empties s->frames, and
   sets s->bare and s->resumed. */
static void stack_fresh (Stack *s, const lua_State *L, size_t n) {
  s->n = 0;
  s->bare = (n > 0 && s->lua[0].L != L);
  s->resumed = 0;
}

/* Pushes the n Lua frames in s->lua, and no native frames. */
static void stack_frames (Stack *s, size_t n) {
  size_t i;
  for (i = 0; i < n; i++) pushframe(s, &s->lua[i], 1);
}

/* Walks the native frames outwards up to the bytecode loop that runs the last of the n Lua frames,
   and merges native and Lua frames. Returns 0 if the walk does not reach that loop. */
static int walkpart (Stack *s, lua_State *L, size_t n) {
  Natives w;
  natives(s, L, &w);
  stack_fresh(s, L, n);
  return merge(s, n, &w, 1) == n;
}

/* Walks all native frames and merges them with the n Lua frames. Returns 1 if the walk reached the
   end of the stack and found all bytecode loops. */
static int walkall (Stack *s, lua_State *L, size_t n) {
  Natives w;
  size_t i;
  natives(s, L, &w);
  stack_fresh(s, L, n);
  i = merge(s, n, &w, 0);
  return !pushothers(s, i, n, s->unwind->ended) && s->unwind->ended;
}

/* Updates s->known, the known Lua frames of the main thread: keeps its 'stay' outermost elements,
   and replaces the others by the frames of the main thread in the first n elements of s->lua. If
   the stack has a cut (frames in its middle were left out), uses only the frames on the inner side
   of the cut.
   Empties s->known instead if s->resumed is 1, if none of the n elements is a frame of the main
   thread, or if s->known would have more than LUAN_DEPTH elements. */
static void remember (Stack *s, size_t n, size_t stay) {
  void **known = s->known + LUAN_DEPTH;
  uint32_t *outside = s->outside + LUAN_DEPTH;
  uint32_t all = (uint32_t)(s->shared + s->n);
  size_t first = 0, i;
  while (first < n && !luaN_ismain(s->lua[first].L)) first++;
  s->nknown = 0;
  for (i = 0; i < n; i++) {
    if (s->lua[i].cut & LUAN_CUT) {
      s->cut = 1;
      n = i + 1;
    }
  }
  if (s->resumed || first >= n || n - first + stay > LUAN_DEPTH) return;
  s->nknown = n - first + stay;
  for (i = first; i < n; i++) {
    known[(ptrdiff_t)(i - first) - (ptrdiff_t)s->nknown] = s->lua[i].ci;
    outside[(ptrdiff_t)(i - first) - (ptrdiff_t)s->nknown] = all - s->places[i] - 1;
  }
}

#if defined(LUAN_DEBUG)

/* Walks the whole stack (with native frames if 'native' is 1), and compares it with the changed and
   unchanged frames that stack_walk has found. Aborts if the stacks differ. */
static void stack_check (Stack *s, lua_State *L, int native) {
  Stack all = *s;
  size_t n, shared = (s->reported != NULL) ? s->shared : 0, i;
  int whole = 1;
  all.frames = malloc(NFRAMES * sizeof(*all.frames));
  /* out of memory: this stack is not checked; nor is the next one, because it would be compared
     with this one */
  if (all.frames == NULL) {
    free(s->reported);
    s->reported = NULL;
    s->nreported = 0;
    return;
  }
  n = luaN_frames(L, all.lua);
  all.places = s->places;  /* the second walk reuses the array 'places', which s needs no more */
  if (native) whole = walkall(&all, L, n);
  else {
    stack_fresh(&all, L, n);
    stack_frames(&all, n);
  }
  stack_leave(&all);
  s->lines = all.lines;  /* the walk of 'all' may have reallocated the caches, so s takes them */
  s->linemask = all.linemask;
  s->missed = all.missed;
  s->functions = all.functions;
  /* stack_walk and this second walk may have left out different frames of a deep or truncated
     stack, so their results are not compared */
  if (s->cut || !whole) shared = 0;
  if (shared > 0) {
    int same = (s->n + shared == all.n && shared <= s->nreported);
    for (i = 0; same && i < s->n; i++)
      same = (s->frames[i].id == all.frames[i].id &&
              s->frames[i].line == all.frames[i].line);
    for (i = 1; same && i <= shared; i++)
      same = (s->reported[s->nreported - i].id == all.frames[all.n - i].id &&
              s->reported[s->nreported - i].line == all.frames[all.n - i].line);
    if (!same) {
      fprintf(stderr, "stack: %zu new and %zu shared frames do not add up to the same stack of %zu "
                      "frames\n", s->n, shared, all.n);
      abort();
    }
  }
  free(s->reported);
  if (!whole) {
    free(all.frames);
    all.frames = NULL;
  }
  s->reported = all.frames;
  s->nreported = all.n;
}

#else
#define stack_check(s,L,native)	((void)0)
#endif

/* Returns 1 if a C function or a hook runs among the n Lua frames in s->lua. */
static int hasnative (const Stack *s, size_t n) {
  size_t i;
  for (i = 0; i < n; i++)
    if (s->lua[i].id == NULL || s->lua[i].hooked) return 1;
  return 0;
}

/* Walks the stack in the most frequent case: the innermost frame, s->lua[0], was in the previous
   stack, so its callers are unchanged. 'shared': index of this frame in s->known. Returns 0 in
   other cases. Call it only if luaN_newframes has returned 1. */
static int walkone (Stack *s, size_t shared) {
  uint32_t outside;
  if (shared + 1 >= s->nknown || s->cut || s->lua->hooked) return 0;
  outside = s->outside[LUAN_DEPTH - s->nknown + shared];
  if (outside == 0) return 0;
  s->n = 0;
  s->shared = outside;
  s->nknown -= shared;
  pushlua(s, s->lua);
  if (s->lua->cut) pushmarks(s, s->lua);
  return 1;
}

/* Walks the stack in the cases that walkone (the fast path) does not handle. Not inlined, so that
   the fast path stays fast.
   native  1: with native frames
   n       number of Lua frames in s->lua: those that may have changed since the previous stack
   shared  index in s->known of the outermost of these frames; s->nknown: s->lua has all Lua
           frames */
static __attribute__((noinline)) void walkmany (Stack *s, lua_State *L, int native, size_t n,
                                                size_t shared) {
  UNCANCELLED;
  size_t stay = 0;
  int part = native && hasnative(s, n), whole = 1;
  if (shared < s->nknown) stay = s->nknown - shared - 1;
  s->shared = (shared < s->nknown) ? s->outside[LUAN_DEPTH - stay - 1] : 0;
  stack_fresh(s, L, n);
  if (s->shared == 0 || n + stay > LUAN_DEPTH ||
      (s->cut && n + stay < PROFILE_DEPTH / 2) ||
      (part && !walkpart(s, L, n))) {
    if (s->shared > 0) n = luaN_frames(L, s->lua);
    s->shared = stay = 0;
    s->cut = 0;
    if (native) whole = walkall(s, L, n);
    else stack_frames(s, n);
  }
  else if (!part) stack_frames(s, n);
  remember(s, n, stay);
  if (!whole) s->nknown = 0;  /* frames are missing, so the next walk must not reuse this stack */
  stack_leave(s);
}

void stack_walk (Stack *s, lua_State *L, int native) {
  void **known = s->known + LUAN_DEPTH - s->nknown;
  size_t shared, n = luaN_newframes(L, s->lua, known, s->nknown, &shared);
  if (n != 1 || !walkone(s, shared)) walkmany(s, L, native, n, shared);
  stack_check(s, L, native);
}

/* Removes from s->lua the frames that were called after tick m: those inside m->ci, the innermost
   frame at the tick. If m->ci has returned, removes none; if it is NULL, removes all. Returns the
   number of frames left. */
static size_t dropnewer (Stack *s, size_t n, const Moment *m) {
  size_t i = 0;
  if (m->ci == NULL) return 0;
  while (i < n && !(s->lua[i].L == m->L && s->lua[i].ci == m->ci)) i++;
  if (i == n) return n;  /* m->ci, which ran at the tick, has returned */
  memmove(s->lua, s->lua + i, (n - i) * sizeof(*s->lua));
  return n - i;
}

/* Returns 1 if the native frames of tick m probably reach the end of the stack: their outermost
   frame is that of a complete walk made now. */
static int iswhole (Stack *s, lua_State *L, const Moment *m) {
  Natives w;
  int n = 0;
  if (m->n <= 1) return 0;
  natives(s, L, &w);
  while (hasmore(s, &w, n)) n++;
  return n > 0 && s->unwind->ended && w.a[n - 1] == moment_native(m)[m->n - 1];
}

void stack_complete (Stack *s, lua_State *L, const Moment *m, int native) {
  size_t n = dropnewer(s, luaN_frames(L, s->lua), m);
  stack_fresh(s, m->L, n);
  s->shared = s->nknown = 0;
  if (m->collecting)
    push(s, m->collecting == LUAN_MINOR ? FRAME_MINOR
                                        : FRAME_MAJOR, 0);
  if (native) {
    Natives w = {moment_native(m), (int)m->n, NULL};
    size_t i = merge(s, n, &w, 0);
    pushothers(s, i, n, i == 0 && n > 0 && iswhole(s, L, m));
    stack_leave(s);
  }
  else stack_frames(s, n);
}

void stack_known (Stack *s, lua_State *from, void **native, int n, int whole,
                  const void *sp) {
  Natives w = {native, n, NULL};
  size_t i, nlua = 0;
  int j;
  s->shared = s->nknown = 0;
  if (from == NULL) {
    s->n = 0;
    for (j = 0; j < n; j++) pushnative(s, (const char *)native[j] - 1);
    return;
  }
  from = luaN_running(from);
  if (owner_mixed(from)) w.n = owner_mark(from, sp, native, n, whole);
  nlua = luaN_frames(from, s->lua);
  stack_fresh(s, from, nlua);
  i = merge(s, nlua, &w, 0);
  pushothers(s, i, nlua, whole);
}
