/* SPDX-License-Identifier: MIT */
/* Finds the object file of an address (loaded.h). */
#define _GNU_SOURCE
#include "loaded.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

/* {== glibc 2.35 and newer ============================================= */

/* Result of _dl_find_object, with the layout of struct dl_find_object, which older headers lack. */
typedef struct Answer {
  unsigned long long flags;
  void *from, *to;
  struct link_map *map;
  void *table;
  unsigned long long reserved[7];
} Answer;

#if defined(DLFO_STRUCT_HAS_EH_DBASE)
_Static_assert(!DLFO_STRUCT_HAS_EH_DBASE && sizeof(Answer) == sizeof(struct dl_find_object),
               "an Answer has the layout of struct dl_find_object");
#endif

typedef int FindObject (void *address, Answer *to);

static FindObject *findobject;  /* address of _dl_find_object; NULL: not available, or not searched
                                   yet */

static void setfindobject (void) {
/* LOADED_OLD is defined by a test that runs the code for glibc before 2.35. That glibc has no
   _dl_find_object, so the table below is used. */
#if !defined(LOADED_OLD)
  void *f = dlsym(RTLD_DEFAULT, "_dl_find_object");
  FindObject *to;
  memcpy(&to, &f, sizeof(to));
  __atomic_store_n(&findobject, to, __ATOMIC_RELAXED);
#endif
}

/* }===================================================================== */

/* {== the table ========================================================= */

/* One of two tables of object files: signal handlers read one while the other is written. The
   lowest bit of 'turn' is the index of the table to be read. When a table is complete, 'turn' is
   incremented. A search during which 'turn' changes is repeated. */
typedef struct Table {
  unsigned n;
  Loaded object[LOADED_MAX];  /* sorted by address */
} Table;

static Table tables[2];
static unsigned turn;
/* Locked by the thread that fills a table. Recursive, because a signal handler may interrupt this
   thread and fork; then loaded_beforefork locks it again. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
/* Total numbers of object files that the loader had loaded ('adds') and unloaded ('subs') when the
   newest table was filled. */
static unsigned long long adds, subs;

#define get(field)	__atomic_load_n(&(field), __ATOMIC_RELAXED)
#define set(field,value)	__atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

static int countobjects (struct dl_phdr_info *info, size_t size, void *ud) {
  unsigned long long *now = ud;
  (void)size;
  now[0] = info->dlpi_adds;
  now[1] = info->dlpi_subs;
  return 1;
}

static int addobject (struct dl_phdr_info *info, size_t size, void *ud) {
  Table *t = ud;
  Loaded o = {NULL, NULL, NULL, NULL};
  int i;
  (void)size;
  for (i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    const char *at = (const char *)(uintptr_t)(info->dlpi_addr + p->p_vaddr);
    if (p->p_type == PT_GNU_EH_FRAME) o.table = at;
    if (p->p_type != PT_LOAD) continue;
    if (o.to == NULL || at < o.from) o.from = at;
    if (at + p->p_memsz > o.to) o.to = at + p->p_memsz;
  }
  if (o.to == NULL) return 0;
  /* insertion sort by address; the list is short */
  for (i = (int)t->n++; i > 0 && t->object[i - 1].from > o.from; i--) {
    set(t->object[i].from, t->object[i - 1].from);
    set(t->object[i].to, t->object[i - 1].to);
    set(t->object[i].table, t->object[i - 1].table);
  }
  set(t->object[i].from, o.from);
  set(t->object[i].to, o.to);
  set(t->object[i].table, o.table);
  return t->n == LOADED_MAX;
}

void loaded_counts (unsigned long long counts[2]) {
  counts[0] = counts[1] = 0;
  dl_iterate_phdr(countobjects, counts);
}

static int rebuild (void) {
  unsigned long long now[2];
  Table *t;
  loaded_counts(now);
  if (turn != 0 && now[0] == adds && now[1] == subs) return 0;
  t = &tables[(turn + 1) & 1];
  /* a search that reads a change of *t must also see that 'turn' selects the other table */
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  set(t->n, 0);
  dl_iterate_phdr(addobject, t);
  adds = now[0];
  subs = now[1];
  __atomic_store_n(&turn, turn + 1, __ATOMIC_SEQ_CST);
  return 1;
}

/* Copies from the table the last object file that starts at or below the address. If another thread
   writes the table during the search, the result is invalid, and the caller ignores it. */
static void searchtable (Table *t, const char *address, Loaded *object) {
  unsigned low = 0, high = get(t->n);
  memset(object, 0, sizeof(*object));
  while (low < high) {
    unsigned middle = (low + high) / 2;
    if (get(t->object[middle].from) <= address) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return;
  object->from = get(t->object[low - 1].from);
  object->to = get(t->object[low - 1].to);
  object->table = get(t->object[low - 1].table);
}

static int findintable (const char *address, Loaded *object) {
  int tries;
  for (tries = 0; tries < 8; tries++) {
    unsigned before = __atomic_load_n(&turn, __ATOMIC_ACQUIRE);
    searchtable(&tables[before & 1], address, object);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&turn, __ATOMIC_RELAXED) == before)
      return object->from <= address && address < object->to;
  }
  return 0;
}

/* }===================================================================== */

/* Called before a fork: waits for the end of a running loaded_refresh, because it may hold the
   loader's lock, which no thread would release in the child. */
static void loaded_beforefork (void) {
  pthread_mutex_lock(&lock);
}

static void loaded_parted (void) {
  pthread_mutex_unlock(&lock);
}

static void loaded_forked (void) {
  lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

static void loaded_watch (void) {
  pthread_atfork(loaded_beforefork, loaded_parted, loaded_forked);
}

int loaded_refresh (void) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  int any;
  /* dlsym may wait for the loader's lock, and the thread with this lock may itself wait in
     pthread_once. So dlsym is not called within pthread_once. */
  if (loaded_isold()) setfindobject();
  if (!loaded_isold()) return 0;
  pthread_once(&control, loaded_watch);
  pthread_mutex_lock(&lock);
  any = rebuild();
  pthread_mutex_unlock(&lock);
  return any;
}

int loaded_isold (void) {
  return __atomic_load_n(&findobject, __ATOMIC_RELAXED) == NULL;
}

int loaded_find (const void *address, Loaded *object) {
  FindObject *f = __atomic_load_n(&findobject, __ATOMIC_RELAXED);
  Answer a;
  if (f == NULL) return findintable(address, object);
  if (f((void *)(uintptr_t)address, &a) != 0) return 0;
  object->from = a.from;
  object->to = a.to;
  object->table = a.table;
  object->map = a.map;
  return 1;
}
