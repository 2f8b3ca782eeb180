/* SPDX-License-Identifier: MIT */
/* Functions of seam.h, the interface for profilers: stacks, labels, names, address ranges of the
   core's code, CPU time, and luaN_admit. (Ticks are in tick.c, luaN_replaced is in replaced.c, all
   others are in lua/gc.) */

#include "lprefix.h"

#include <string.h>
#include <time.h>

#include "lua.h"

#include "ldebug.h"
#include "lgc.h"
#include "lmem.h"
#include "lobject.h"
#include "lstate.h"
#include "lvm.h"

#include "debug.h"
#include "limit.h"
#include "seam.h"

#define OUTER	(LUAN_DEPTH - LUAN_INNER)


/* Compiles only if two conditions hold: the bits of CallInfo.callstatus that are copied to 'cut',
   'hooked' and 'fresh' of luaN_Frame fit into one byte; and CIST_TAIL is LUAN_TAIL. */
typedef char StatusFits[(CIST_TAIL == LUAN_TAIL && CIST_HOOKED < 256 && CIST_FRESH < 256) ? 1 : -1];


static void seam_fill (lua_State *L, CallInfo *ci, luaN_Frame *f) {
  TValue *func = s2v(ci->func.p);
  f->L = L;
  f->ci = ci;
  f->last = (ci->previous == &L->base_ci);
  f->hooked = (ci->callstatus & CIST_HOOKED);
  f->resumable = 0;
  if (isLua(ci)) {
    Proto *p = ci_func(ci)->p;
    f->function = p;
    f->id = &p->id;
    f->pc = pcRel(ci->u.l.savedpc, p);
    if (f->pc < 0) f->pc = 0;  /* the frame has run no instruction yet */
    f->fresh = (ci->callstatus & CIST_FRESH);
    f->cut = (ci->callstatus & CIST_TAIL);
  }
  else {
    /* NULL if the function's slot contains no C function: ci is the frame of a call hook, or of a
       call of an object with __call. */
    f->function = luaN_codeof(func);
    f->id = NULL;
    f->pc = 0;
    f->fresh = f->cut = 0;
    f->resumable = (ci->u.c.k != NULL);
  }
}


/* Returns the thread whose frames come next in the running stack, after the outermost frame of L:
   the nearest resumer of L that has frames (the resumer, its resumer, and so on). Returns NULL if
   no resumer has frames. */
static lua_State *outside (lua_State *L) {
  do L = L->resumer;
  while (L != NULL && (L->ci == NULL || L->ci == &L->base_ci));
  return L;
}


LUA_API lua_State *luaN_running (lua_State *L) {
  lua_State *running = G(L)->heap.tick.running, *th;
  if (running == NULL) running = G(L)->mainthread;
  if (L == running) return L;
  if (L->status != LUA_OK || L->ci == NULL || L->ci == &L->base_ci)
    return running;
  for (th = running; th != NULL; th = th->resumer)
    if (th == L) return running;
  return L;  /* L is not among the resumed threads: C code calls functions in L directly */
}


/* Writes up to OUTER frames of the running stack of L and its resumers, from the outermost frame
   inwards, and returns their number. Fills the array from its end: frames[OUTER - 1] is the
   outermost frame. The last frame to write is 'stop', a frame of L. */
static unsigned seam_outermost (lua_State *L, const CallInfo *stop,
                                luaN_Frame *frames) {
  lua_State *chain[LUAI_MAXCCALLS + 1];
  unsigned n = 0;
  int m = 0;
  for (; L != NULL && m <= LUAI_MAXCCALLS; L = outside(L))
    chain[m++] = L;
  while (m-- > 0) {
    CallInfo *ci = &chain[m]->base_ci;
    do {
      ci = ci->next;
      seam_fill(chain[m], ci, &frames[OUTER - ++n]);
      if (n == OUTER || ci == stop) return n;
    } while (ci != chain[m]->ci);
  }
  return n;
}


LUA_API size_t luaN_frames (lua_State *L, luaN_Frame frames[LUAN_DEPTH]) {
  luaN_Frame *rest = frames + LUAN_INNER;
  CallInfo *ci = L->ci;
  unsigned n;
  if (ci == NULL || ci == &L->base_ci) {
    if ((L = outside(L)) == NULL) return 0;
    ci = L->ci;
  }
  for (n = 0; n < LUAN_INNER; n++) {
    seam_fill(L, ci, &frames[n]);
    ci = ci->previous;
    if (ci == &L->base_ci) {
      if ((L = outside(L)) == NULL) return n + 1;
      ci = L->ci;
    }
  }
  n = seam_outermost(L, ci, rest);
  if (rest[OUTER - n].ci != ci) frames[LUAN_INNER - 1].cut |= LUAN_CUT;
  memmove(rest, rest + (OUTER - n), n * sizeof(*rest));
  return LUAN_INNER + n;
}


/*
** Writes the frames that may have changed since the call that returned known[] (seam.h). Each frame
** of the main thread that was written has the bit CIST_SHOWN. The bit is cleared when the frame's
** CallInfo is used for another call (except a tail call). So a CallInfo of known[] that still has
** the bit belongs to the same call, or to a tail call that has replaced it.
*/
LUA_API size_t luaN_newframes (lua_State *L, luaN_Frame frames[LUAN_DEPTH],
                               void *const *known, size_t n, size_t *shared) {
  const lua_State *mainthread = G(L)->mainthread;
  lua_State *th = L;
  size_t i = 0, m = 0;
  *shared = n;
  if (th->ci == NULL || th->ci == &th->base_ci) th = outside(th);
  for (; th != NULL; th = outside(th)) {
    CallInfo *ci;
    for (ci = th->ci; ci != &th->base_ci; ci = ci->previous) {
      if (m == LUAN_DEPTH) return luaN_frames(L, frames);
      seam_fill(th, ci, &frames[m++]);
      if (th != mainthread) continue;
      if ((ci->callstatus & CIST_SHOWN) && i < n && isLua(ci)) {
        while (i < n && known[i] != ci) i++;
        if (i < n) {
          *shared = i;
          return m;
        }
      }
      ci->callstatus |= CIST_SHOWN;
    }
  }
  return m;
}


LUA_API int luaN_yield (lua_State *L) {
  return lua_yield(L, lua_gettop(L));
}


LUA_API unsigned luaN_label (lua_State *L) {
  return L->label;
}


LUA_API void luaN_setlabel (lua_State *L, unsigned label) {
  const lua_State *running = G(L)->heap.tick.running;
  L->label = label;
  if (L == (running != NULL ? running : G(L)->mainthread)) luaN_countfor(L);
}


/* Sets labels->bytes to the address of the sum of bytes for labels->label. Not inlined, so that
   luaN_relabelled need not save registers. */
static __attribute__((noinline)) void findlabel (luaN_Labels *labels) {
  labels->bytes = labels->find(labels, labels->label);
}


void luaN_relabelled (lua_State *L, unsigned label) {
  const luaN_Heap *h = &G(L)->heap;
  luaN_Labels *labels = h->labels;
  const uint64_t now = h->allocated + h->allocatedoutside + (size_t)(h->free - h->mark);
  *labels->bytes += now - labels->from;
  labels->from = now;
  labels->label = label;
  if (l_likely(labels->recent[label % LUAN_RECENTLABELS].label == label))
    labels->bytes = labels->recent[label % LUAN_RECENTLABELS].bytes;
  else findlabel(labels);
}


LUA_API void luaN_setlabels (lua_State *L, luaN_Labels *to) {
  G(L)->heap.labels = to;
}


LUA_API void luaN_admit (lua_State *L, size_t before, size_t n) {
  luaN_Heap *h = &G(L)->heap;
  luaN_mayenter(L, "luaN_admit");
  if (n > before && h->limits != NULL) {
    if (luaN_compare(L, n)) luaM_error(L);
    if (h->buffers + (n - before) > h->limits->buffers) {
      h->refusal = h->limits->whybuffers;
      luaM_error(L);
    }
  }
  h->buffers += n - before;
}


LUA_API int luaN_ismain (lua_State *L) {
  return L == G(L)->mainthread;
}


LUA_API lua_State *luaN_main (lua_State *L) {
  return G(L)->mainthread;
}


LUA_API luaN_Protected luaN_protected (void) {
  return luaN_innermost;
}


LUA_API int luaN_line (const void *proto, int pc) {
  int line = luaG_getfuncline((const Proto *)proto, pc);
  return (line > 0) ? line : 0;
}


LUA_API const char *luaN_name (const void *proto, size_t *length) {
  const TString *name = ((const Proto *)proto)->name;
  *length = (name != NULL) ? tsslen(name) : ((const Proto *)proto)->nth;
  if (name == NULL) return NULL;
  return getstr(name);
}


/* Attribute of a name that the linker defines and the library does not export. */
#define BOUND	__attribute__((visibility("hidden")))

/*
** Bounds of the sections of the core's code, defined by the linker: luavm has the bytecode loop,
** luaresume and luaprotect the functions that resume coroutines and run protected calls (core.h),
** luacore all other functions (build.mk).
*/
extern const char __start_luacore[] BOUND, __stop_luacore[] BOUND;
extern const char __start_luavm[] BOUND, __stop_luavm[] BOUND;
extern const char __start_luaresume[] BOUND, __stop_luaresume[] BOUND;
extern const char __start_luaprotect[] BOUND, __stop_luaprotect[] BOUND;

LUA_API void luaN_code (luaN_Code *c) {
  c->core.from = __start_luacore; c->core.to = __stop_luacore;
  c->execute.from = __start_luavm; c->execute.to = __stop_luavm;
  c->resume.from = __start_luaresume; c->resume.to = __stop_luaresume;
  c->protect.from = __start_luaprotect; c->protect.to = __stop_luaprotect;
}


uint64_t luaN_processor (uint64_t now) {
  /* All in nanoseconds. at: 'now' at the last reading of the CPU clock; read: the CPU time that was
     read then; result: the last result of this function. */
  static __thread struct {uint64_t at, read, result;} last;
  uint64_t cpu = last.read + (now - last.at);
  if (last.at == 0 || now - last.at >= LUAN_REUSED) {
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    cpu = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    last.at = now;
    last.read = cpu;
    /* in the child of a fork, the CPU clock has started at 0 again */
    if (cpu + LUAN_REUSED < last.result) last.result = 0;
  }
  if (cpu > last.result) last.result = cpu;
  return last.result;
}
