/* SPDX-License-Identifier: MIT */
/*
** cmemory: a Lua module that allocates memory with malloc and similar functions and counts the
** bytes exactly, for specs of asamp/preload and asamp/sample/mallocs.h.
**
**   leak(n [, yes])  a userdata that refers to n bytes, never freed; yes: the bytes are written
**   buffer(n)        a userdata that refers to n bytes, which its __gc frees
**   churn(k, n, w)   k times malloc of n bytes and free, each followed by w steps of a loop
**   hold(k, n)       k blocks of n bytes at the same time, then all are freed
**   kinds(n)         n bytes by each available function, freed; returns the number of functions
**   thread(k, n)     does the same as leak(n), k times, on a thread without Lua
**   grow(n)          a block that realloc enlarges from 1 to n bytes, doubling each time; freed
**   nested(f)        calls f with more C frames on the stack
**   stress(k, lib)   k rounds of threads, forks, signals and loading 'lib' at the same time, all
**                    with calls of malloc. One thread runs until the process has ended, and an
**                    atexit function calls malloc, also in children of forks. Only the process
**                    itself loads 'lib', because in a child the C library's loader may be in the
**                    middle of an operation of another thread
**   threads(k)       k threads, one after the other, that query the bounds of their stack
**   negative()       calls malloc for -4096 bytes, which must fail
**   narrow(k)        k blocks, requested on a stack of 8 KiB with a guard page below it
**   requested()      the bytes requested so far
**   kept()           those of the requested bytes that are never freed
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lua.h"

static lua_Integer requested, kept;

/*
** The result of malloc is stored here, because the compiler would remove a call of malloc whose
** result is only freed.
*/
static void *volatile last;

static void *request (size_t n) {
  void *p = malloc(n);
  last = p;
  requested += (lua_Integer)n;
  return p;
}

__attribute__((noinline)) static void *leaked (size_t n) {
  kept += (lua_Integer)n;
  return request(n);
}

static int l_leak (lua_State *L) {
  void **box = lua_newuserdatauv(L, sizeof(void *), 0);
  *box = leaked((size_t)luaL_checkinteger(L, 1));
  if (lua_toboolean(L, 2) && *box != NULL) memset(*box, 1, (size_t)luaL_checkinteger(L, 1));
  return 1;
}

static int l_free (lua_State *L) {
  void **box = luaL_checkudata(L, 1, "cmemory");
  free(*box);
  *box = NULL;
  return 0;
}

static int l_buffer (lua_State *L) {
  void **box = lua_newuserdatauv(L, sizeof(void *), 0);
  *box = NULL;
  if (luaL_newmetatable(L, "cmemory")) {
    lua_pushcfunction(L, l_free);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  *box = request((size_t)luaL_checkinteger(L, 1));
  return 1;
}

static int l_churn (lua_State *L) {
  lua_Integer i, k = luaL_checkinteger(L, 1), work = luaL_optinteger(L, 3, 0);
  size_t n = (size_t)luaL_checkinteger(L, 2);
  for (i = 0; i < k; i++) {
    volatile lua_Integer w;
    for (w = work; w > 0; w--) { }
    free(request(n));
  }
  return 0;
}

static int l_hold (lua_State *L) {
  lua_Integer i, k = luaL_checkinteger(L, 1);
  size_t n = (size_t)luaL_checkinteger(L, 2);
  void **all = request((size_t)k * sizeof(*all));
  for (i = 0; i < k; i++) all[i] = request(n);
  for (i = 0; i < k; i++) free(all[i]);
  free(all);
  return 0;
}

/*
** operator new and operator delete of C++, by their mangled names. They are NULL if the process
** has loaded no C++ library.
*/
extern void *_Znwm (size_t n) __attribute__((weak));
extern void _ZdlPv (void *p) __attribute__((weak));

static int l_kinds (lua_State *L) {
  size_t n = (size_t)luaL_checkinteger(L, 1);
  void *p = NULL;
  int kinds = 9;
  volatile size_t most = (size_t)-1;
  free(request(n));
  free(last = calloc(2, n / 2));
  free(last = realloc(NULL, n));
  free(last = reallocarray(NULL, 2, n / 2));
  free(last = aligned_alloc(64, n));
  free(last = memalign(128, n));
  free(last = valloc(n));
  if (posix_memalign(&p, 256, n) == 0) free(last = p);
  free(last = memcpy(malloc(n), "", 1));
  requested += 8 * (lua_Integer)n;
  if (_Znwm != NULL && _ZdlPv != NULL) {
    _ZdlPv(last = _Znwm(n));
    requested += (lua_Integer)n;
    kinds++;
  }
  errno = 0;
  if (reallocarray(NULL, most, 2) != NULL || errno != ENOMEM)
    return luaL_error(L, "reallocarray overflows");
  lua_pushinteger(L, kinds);
  return 1;
}

static int l_grow (lua_State *L) {
  size_t n = (size_t)luaL_checkinteger(L, 1), i;
  char *p = NULL;
  for (i = 1; i <= n; i *= 2) {
    p = realloc(p, i);
    requested += (lua_Integer)i;
    p[0] = p[i - 1] = 7;
  }
  free(p);
  return 0;
}

typedef struct Work {
  lua_Integer k;
  size_t n;
} Work;

static void *run (void *ud) {
  const Work *w = ud;
  lua_Integer i;
  for (i = 0; i < w->k; i++) leaked(w->n);
  return NULL;
}

static int l_thread (lua_State *L) {
  Work w = {luaL_checkinteger(L, 1), (size_t)luaL_checkinteger(L, 2)};
  pthread_t t;
  if (pthread_create(&t, NULL, run, &w) != 0) return luaL_error(L, "no thread");
  pthread_join(t, NULL);
  return 0;
}

static void *askend (void *ud) {
  pthread_attr_t a;
  (void)ud;
  if (pthread_getattr_np(pthread_self(), &a) == 0) pthread_attr_destroy(&a);
  return NULL;
}

static int l_threads (lua_State *L) {
  lua_Integer k = luaL_checkinteger(L, 1);
  for (; k > 0; k--) {
    pthread_t t;
    if (pthread_create(&t, NULL, askend, NULL) != 0) return luaL_error(L, "no thread");
    pthread_join(t, NULL);
  }
  return 0;
}

static int l_negative (lua_State *L) {
  volatile size_t n = (size_t)-4096;
  lua_pushboolean(L, malloc(n) != NULL);
  return 1;
}

static volatile int over;
static volatile sig_atomic_t alarms;

static void onalarm (int signal) {
  (void)signal;
  alarms++;
}

/* Blocks that one thread has allocated and that another thread will free. */
static void *volatile handed[64];

static void *churner (void *ud) {
  size_t i;
  pthread_key_t key;
  (void)ud;
  if (pthread_key_create(&key, free) == 0) pthread_setspecific(key, malloc(100));
  for (i = 0; !over; i++) {
    void *p = malloc(i % 1000 + 1);
    p = realloc(p, i % 3000 + 1);
    free(__atomic_exchange_n(&handed[i % 64], p, __ATOMIC_ACQ_REL));
  }
  return NULL;
}

static void *loader (void *lib) {
  while (!over) {
    void *handle = dlopen(lib, RTLD_NOW | RTLD_LOCAL);
    if (handle != NULL) dlclose(handle);
  }
  return NULL;
}

static int child (void) {
  void *p = malloc(1000);
  free(realloc(p, 5000));
  return p != NULL;
}

/* Body of a thread that allocates and frees memory until the process ends. */
static void *lingering (void *ud) {
  (void)ud;
  while (1) free(last = realloc(malloc(30), 4000));
  return NULL;
}

static char latelib[256];
static pid_t parent;

static void late (void) {
  void *handle = (getpid() == parent) ? dlopen(latelib, RTLD_NOW | RTLD_LOCAL) : NULL;
  int i;
  for (i = 0; i < 100; i++) free(realloc(malloc(100), 5000));
  if (handle != NULL) dlclose(handle);
}

static int l_stress (lua_State *L) {
  lua_Integer i, k = luaL_checkinteger(L, 1);
  struct itimerval every = {{0, 500}, {0, 500}}, none = {{0, 0}, {0, 0}};
  struct sigaction a;
  Dl_info here;
  pthread_t churners[2], load;
  memset(&a, 0, sizeof(a));
  a.sa_handler = onalarm;
  a.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &a, NULL);
  setitimer(ITIMER_REAL, &every, NULL);
  strncpy(latelib, luaL_checkstring(L, 2), sizeof(latelib) - 1);
  /*
  ** The thread 'lingering' still runs when the state is closed. So the code of this module must
  ** stay loaded.
  */
  if (dladdr((void *)(uintptr_t)lingering, &here))
    dlopen(here.dli_fname, RTLD_NOW | RTLD_NODELETE);
  parent = getpid();
  atexit(late);
  over = 0;
  if (pthread_create(&load, NULL, lingering, NULL) == 0) pthread_detach(load);
  pthread_create(&churners[0], NULL, churner, NULL);
  pthread_create(&churners[1], NULL, churner, NULL);
  pthread_create(&load, NULL, loader, (void *)luaL_checkstring(L, 2));
  for (i = 0; i < k; i++) {
    pthread_t thread;
    void *handle;
    int status = 1;
    pid_t pid = fork();
    if (pid == 0 && child()) {
      if (i % 2 == 0) exit(0);
      _exit(0);
    }
    if (pid == 0) _exit(2);
    handle = dlopen(lua_tostring(L, 2), RTLD_NOW | RTLD_LOCAL);
    if (handle != NULL) dlclose(handle);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
      return luaL_error(L, "the child of a fork ended with %d", status);
    if (pthread_create(&thread, NULL, run, &(Work){10, 100}) == 0)
      pthread_join(thread, NULL);
    free(request(50));
  }
  over = 1;
  pthread_join(churners[0], NULL);
  pthread_join(churners[1], NULL);
  pthread_join(load, NULL);
  setitimer(ITIMER_REAL, &none, NULL);
  lua_pushinteger(L, alarms);
  return 1;
}

static ucontext_t outer, inner;
static lua_Integer rounds;

static void onnarrow (void) {
  while (rounds-- > 0) free(last = malloc(100));
}

static int l_narrow (lua_State *L) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *p = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  rounds = luaL_checkinteger(L, 1);
  mprotect(p, page, PROT_NONE);
  getcontext(&inner);
  inner.uc_stack.ss_sp = p + page;
  inner.uc_stack.ss_size = 2 * page;
  inner.uc_link = &outer;
  makecontext(&inner, onnarrow, 0);
  swapcontext(&outer, &inner);
  munmap(p, 3 * page);
  return 0;
}

/*
** Creates n mappings of one page. Neighbours have different protections, so that the kernel lists
** each mapping separately.
*/
static int l_map (lua_State *L) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (size_t)luaL_checkinteger(L, 1), i;
  char *p = mmap(NULL, n * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return luaL_error(L, "mmap failed");
  for (i = 0; i < n; i += 2) mprotect(p + i * page, page, PROT_NONE);
  return 0;
}

static int l_nested (lua_State *L) {
  lua_settop(L, 1);
  lua_call(L, 0, 0);
  return 0;
}

static int l_requested (lua_State *L) {
  lua_pushinteger(L, requested);
  return 1;
}

static int l_kept (lua_State *L) {
  lua_pushinteger(L, kept);
  return 1;
}

LUAMOD_API int luaopen_cmemory (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"threads", l_threads}, {"negative", l_negative}, {"map", l_map}, {"leak", l_leak}, {"buffer", l_buffer}, {"churn", l_churn}, {"hold", l_hold},
    {"kinds", l_kinds}, {"thread", l_thread}, {"grow", l_grow}, {"nested", l_nested},
    {"stress", l_stress}, {"narrow", l_narrow}, {"requested", l_requested}, {"kept", l_kept},
    {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
