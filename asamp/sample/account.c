/* SPDX-License-Identifier: MIT */
/* Counts allocated bytes by label set (account.h). */
#include "account.h"

#include <stdlib.h>
#include <string.h>

#include "binding.h"

#define FIRSTLOG	4	/* log2 of the number of slots of a new Account.table */

static uint32_t account_place (uint32_t set, unsigned log) {
  return (set * 0x9e3779b1u) >> (32 - log);
}

/* Returns the sum with index i. The sums are stored in order in a->pieces[0], a->pieces[1], ...;
   a->pieces[k] has ACCOUNT_FIRST << k of them. */
static AccountSum *sumat (const Account *a, uint32_t i) {
  uint32_t scaled = i / ACCOUNT_FIRST + 1;
  unsigned piece = 31 - (unsigned)__builtin_clz(scaled);
  return &a->pieces[piece][i - ACCOUNT_FIRST * ((1u << piece) - 1)];
}

static void account_put (AccountSum **table, unsigned log, AccountSum *sum) {
  uint32_t i = account_place(sum->set, log), mask = (1u << log) - 1;
  while (table[i] != NULL) i = (i + 1) & mask;
  table[i] = sum;
}

/* Reserves space in the hash table for one more sum. Returns 0 if out of memory. */
static int growtable (Account *a) {
  unsigned log = (a->table == NULL) ? FIRSTLOG : a->log + 1;
  AccountSum **table;
  uint32_t i;
  if (a->table != NULL && a->n + 1 <= (1u << a->log) / 4 * 3) return 1;
  table = calloc((size_t)1 << log, sizeof(*table));
  if (table == NULL) return 0;
  for (i = 0; i < a->n; i++) account_put(table, log, sumat(a, i));
  free(a->table);
  a->table = table;
  a->log = log;
  return 1;
}

/* Adds a sum for a new label set. Returns NULL if all ACCOUNT_PIECES arrays are full, or if out of
   memory. */
static AccountSum *newsum (Account *a, uint32_t set) {
  uint32_t scaled = a->n / ACCOUNT_FIRST + 1;
  unsigned piece = 31 - (unsigned)__builtin_clz(scaled);
  AccountSum *sum;
  if (piece == ACCOUNT_PIECES || !growtable(a)) return NULL;
  if (a->pieces[piece] == NULL &&
      (a->pieces[piece] = calloc((size_t)ACCOUNT_FIRST << piece, sizeof(*sum))) == NULL)
    return NULL;
  sum = sumat(a, a->n);
  sum->set = set;
  account_put(a->table, a->log, sum);
  __atomic_store_n(&a->n, a->n + 1, __ATOMIC_RELEASE);
  return sum;
}

static AccountSum *sumof (Account *a, uint32_t set) {
  if (set == 0) return &a->none;
  if (a->table != NULL) {
    uint32_t i = account_place(set, a->log), mask = (1u << a->log) - 1;
    AccountSum *sum;
    for (; (sum = a->table[i]) != NULL; i = (i + 1) & mask)
      if (sum->set == set) return sum;
  }
  return newsum(a, set);
}

/* Returns the address of the byte counter of a label set. The Lua core calls this when the running
   coroutine's label set changes. */
static uint64_t *account_find (luaN_Labels *seam, unsigned set) {
  AccountSum *sum = sumof((Account *)seam, set);
  if (sum == NULL) return seam->bytes;  /* no memory for a new sum: adds the bytes to the previous
                                           label set's sum */
  seam->recent[set % LUAN_RECENTLABELS].label = set;
  seam->recent[set % LUAN_RECENTLABELS].bytes = &sum->bytes;
  return &sum->bytes;
}

/* Adds the bytes allocated since seam->from was set to the sum of the running coroutine's label
   set. 'allocated': all bytes that the state has allocated, the new value of seam->from. */
static void account_count (luaN_Labels *seam, uint64_t allocated) {
  *seam->bytes += allocated - seam->from;
  seam->from = allocated;
}

void account_on (Account *a, lua_State *L) {
  luaN_Labels *seam = &a->seam;
  if (a->on) return;
  a->on = 1;
  seam->find = account_find;
  seam->label = luaN_label(luaN_running(L));
  if (seam->bytes == NULL) __atomic_store_n(&seam->bytes, account_find(seam, 0), __ATOMIC_RELAXED);
  __atomic_store_n(&seam->bytes, account_find(seam, seam->label), __ATOMIC_RELAXED);
  a->since = seam->from = luaN_allocated(L);
  luaN_setlabels(L, seam);
}

void account_off (Account *a, lua_State *L) {
  uint64_t allocated = luaN_allocated(L);
  if (!a->on) return;
  luaN_setlabels(L, NULL);
  account_count(&a->seam, allocated);
  a->bytes += allocated - a->since;
  a->on = 0;
}

/* Sets a sum to 0 ('keep' 0), or to the bytes that account_each has not reported yet ('keep' 1). */
static void account_zero (AccountSum *sum, int keep) {
  uint64_t bytes = (keep && sum->bytes > sum->reported) ? sum->bytes - sum->reported : 0;
  sum->bytes = bytes;
  sum->reported = 0;
}

void account_reset (Account *a, lua_State *L, uint64_t rest) {
  uint32_t i;
  if (a->on) account_count(&a->seam, luaN_allocated(L));
  account_zero(&a->none, rest > 0);
  for (i = 0; i < a->n; i++) account_zero(sumat(a, i), rest > 0);
  a->bytes = rest;
  a->since = a->seam.from = luaN_allocated(L);
}

void account_close (Account *a) {
  unsigned i;
  for (i = 0; i < ACCOUNT_PIECES; i++) free(a->pieces[i]);
  free(a->table);
  memset(a, 0, sizeof(*a));
}

uint64_t account_bytes (const Account *a, lua_State *L) {
  return a->bytes + (a->on ? luaN_allocated(L) - a->since : 0);
}

typedef struct Each {
  AccountPart part;
  void (*f) (void *ud, uint32_t set, uint64_t bytes);
  void *ud;
  uint64_t all;		/* sum of the bytes passed to 'f' so far */
} Each;

static void account_one (Each *e, AccountSum *sum, uint64_t bytes) {
  if (bytes == 0) return;
  if (e->part == ACCOUNT_REPORT) sum->reported += bytes;
  e->all += bytes;
  e->f(e->ud, sum->set, bytes);
}

static void account_other (Each *e, AccountSum *sum) {
  uint64_t bytes = __atomic_load_n(&sum->bytes, __ATOMIC_RELAXED);
  uint64_t reported = (e->part == ACCOUNT_WHOLE) ? 0 : sum->reported;
  account_one(e, sum, bytes > reported ? bytes - reported : 0);
}

uint64_t account_each (Account *a, AccountPart part, uint64_t all,
                       void (*f) (void *ud, uint32_t set, uint64_t bytes), void *ud) {
  Each e = {part, f, ud, 0};
  uint64_t *now = __atomic_load_n(&a->seam.bytes, __ATOMIC_RELAXED);
  AccountSum *present = &a->none;
  uint32_t i, n = __atomic_load_n(&a->n, __ATOMIC_ACQUIRE);
  for (i = 0; i < n; i++) {
    if (now == &sumat(a, i)->bytes) present = sumat(a, i);
    else account_other(&e, sumat(a, i));
  }
  if (present != &a->none) account_other(&e, &a->none);
  account_one(&e, present, all > e.all ? all - e.all : 0);
  return e.all;
}
