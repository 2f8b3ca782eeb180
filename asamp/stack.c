/* SPDX-License-Identifier: MIT */
/*
** Walks of the Lua and the C stack (stack.h).
*/
#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lauxlib.h"
#include "lua.h"

#include "seam.h"
#include "stack.h"

#define MAXNATIVE	4096	/* native frames of a sample */
#define NLINES		4096u	/* entries of the cache of lines, a power of two */

/*
** Numbers of functions, for all states of the process: a prototype keeps its
** number for life, so numbers must not meet in one file.
*/
static unsigned int lastid;

__thread volatile sig_atomic_t stack_unwinding;


void stack_close (Stack *s) {
  free(s->frames);
  free(s->lua);
  free(s->native);
  free(s->lines);
  free(s->announced);
  memset(s, 0, sizeof(*s));
}


int stack_open (Stack *s) {
  memset(s, 0, sizeof(*s));
  s->native = malloc(MAXNATIVE * sizeof(void *));
  s->lines = calloc(NLINES, sizeof(*s->lines));
  s->lua = malloc(LUAN_DEPTH * sizeof(*s->lua));
  if (s->native != NULL && s->lines != NULL && s->lua != NULL) return 1;
  stack_close(s);
  return 0;
}


void stack_begin (Stack *s, StackAnnounce announce, void *ud) {
  if (s->announced != NULL) memset(s->announced, 0, s->announcedsize);
  s->announce = announce;
  s->ud = ud;
}


/* Room for n elements in a vector; 0: no memory (the vector is as before). */
static int room (void **v, size_t *capacity, size_t n, size_t size) {
  if (n > *capacity) {
    size_t c = (2 * *capacity > n) ? 2 * *capacity : n;
    void *p = realloc(*v, c * size);
    if (p == NULL) return 0;
    *v = p;
    *capacity = c;
  }
  return 1;
}


static void push (Stack *s, uint64_t id, int line) {
  if (room((void **)&s->frames, &s->capacity, s->n + 1, sizeof(*s->frames))) {
    s->frames[s->n].id = id;
    s->frames[s->n].line = (uint32_t)line;
    s->n++;
  }
}


/* Marks a number as announced; returns 1 when it already was. */
static int known (Stack *s, unsigned int id) {
  size_t byte = id / 8;
  unsigned char bit = (unsigned char)(1u << (id % 8));
  if (byte >= s->announcedsize) {
    size_t size = s->announcedsize;
    if (!room((void **)&s->announced, &s->announcedsize, byte + 64, 1))
      return 0;
    memset(s->announced + size, 0, s->announcedsize - size);
  }
  if (s->announced[byte] & bit) return 1;
  s->announced[byte] |= bit;
  return 0;
}


/*
** Name of a Lua function, as the call that is running names it. The source is
** the file's path when it is a file, else as error messages show it.
*/
static void announce (const Stack *s, const luaN_Frame *f, unsigned int id) {
  lua_Debug ar;
  const char *name;
  memset(&ar, 0, sizeof(ar));
  ar.i_ci = f->ci;
  lua_getinfo(f->L, "nS", &ar);
  if (*ar.what == 'm') name = "main chunk";
  else if (ar.name != NULL) name = ar.name;
  else name = "anonymous";
  s->announce(s->ud, (uint64_t)id * 8, name, ar.linedefined,
              (*ar.source == '@') ? ar.source + 1 : ar.short_src);
}


/*
** Line of the instruction that a frame is at. Upstream keeps lines as
** differences, so they are looked up once and kept by function and pc.
*/
static int lineof (Stack *s, const luaN_Frame *f) {
  StackLine *l = &s->lines[(*f->id * 31u + (unsigned)f->pc) & (NLINES - 1)];
  if (l->id != *f->id || l->pc != f->pc) {
    l->id = *f->id;
    l->pc = f->pc;
    l->line = luaN_line(f->function, f->pc);
  }
  return l->line;
}


static void pushlua (Stack *s, const luaN_Frame *f) {
  if (*f->id == 0) *f->id = __atomic_add_fetch(&lastid, 1, __ATOMIC_RELAXED);
  if (!known(s, *f->id)) announce(s, f, *f->id);
  push(s, (uint64_t)*f->id * 8, lineof(s, f));
}


static void pushnative (Stack *s, const void *address) {
  push(s, (uint64_t)(uintptr_t)address | 1, 0);
}


/* A C function by its first address, which may be odd. */
static void pushentry (Stack *s, const void *function) {
  pushnative(s, (const char *)function + 1);
}


/* One frame of the seam; 'shown': a C function too, by its own address. */
static void pushframe (Stack *s, const luaN_Frame *f, int shown) {
  if (f->id != NULL) pushlua(s, f);
  else if (shown && f->function != NULL) pushentry(s, f->function);
  if (f->cut) push(s, PROFILE_CUT, 0);
}


static int in (const luaN_Range *r, const char *ip) {
  return r->from <= ip && ip < r->to;
}


/* The Lua frames that one bytecode loop runs; returns where it stops. */
static size_t pushrun (Stack *s, size_t i, size_t n) {
  while (i < n && s->lua[i].id == NULL && !s->lua[i].last)
    pushframe(s, &s->lua[i++], 0);  /* its native frames were there */
  while (i < n) {
    const luaN_Frame *f = &s->lua[i++];
    pushframe(s, f, 0);
    if (f->fresh || f->last) break;
  }
  return i;
}


/* What is left of a coroutine. */
static size_t pushrest (Stack *s, size_t i, size_t n) {
  if (i == 0 || !s->lua[i - 1].last) {
    while (i < n) {
      const luaN_Frame *f = &s->lua[i++];
      pushframe(s, f, f->resumable && !f->last);
      if (f->last) break;
    }
  }
  return i;
}


static void merge (Stack *s, size_t nlua, void *const *native, int nnative) {
  luaN_Code code;
  size_t i = 0;
  int j;
  luaN_code(&code);
  for (j = 0; j < nnative; j++) {
    const char *ip = (const char *)native[j] - 1;  /* within the call */
    if (in(&code.execute, ip)) i = pushrun(s, i, nlua);
    else if (in(&code.resume, ip)) i = pushrest(s, i, nlua);
    else if (!in(&code.core, ip)) pushnative(s, ip);
  }
  for (j = (i == 0); i < nlua; i++)  /* the C stack was cut short, or lost */
    pushframe(s, &s->lua[i], j);
}


/* The C stack without the sampler's own frames. */
static int backtrace_ (Stack *s, void ***native) {
  luaN_Code code;
  int n, i = 0;
  stack_unwinding = 1;
  n = unw_backtrace(s->native, MAXNATIVE);
  stack_unwinding = 0;
  luaN_code(&code);
  while (i < n && !in(&code.core, (const char *)s->native[i] - 1)) i++;
  *native = s->native + i;
  return n - i;
}


/* The n Lua frames in s->lua; C functions by their own address. */
static void frames (Stack *s, size_t n) {
  size_t i;
  for (i = 0; i < n; i++) pushframe(s, &s->lua[i], 1);
}


size_t stack_walk (Stack *s, lua_State *L, int native) {
  size_t n = luaN_frames(L, s->lua);
  s->n = 0;
  if (native) {
    void **a;
    int m = backtrace_(s, &a);
    merge(s, n, a, m);
  }
  else frames(s, n);
  return 0;
}


/* Drops the frames inside of the one that ran at the moment. */
static size_t dropnewer (Stack *s, size_t n, const Moment *m) {
  size_t i = 0;
  if (m->ci == NULL) return 0;
  while (i < n && !(s->lua[i].L == m->L && s->lua[i].ci == m->ci)) i++;
  if (i == n) return n;  /* it has been left */
  memmove(s->lua, s->lua + i, (n - i) * sizeof(*s->lua));
  return n - i;
}


size_t stack_complete (Stack *s, lua_State *L, const Moment *m, int native) {
  size_t n = dropnewer(s, luaN_frames(L, s->lua), m);
  s->n = 0;
  if (m->collecting)
    push(s, m->collecting == LUAN_MINOR ? PROFILE_MINORFRAME
                                        : PROFILE_MAJORFRAME, 0);
  if (native) merge(s, n, m->native, (int)m->n);
  else frames(s, n);
  return s->n;
}


void stack_prime (void) {
  void *a[16];
  unw_backtrace(a, 16);
}
