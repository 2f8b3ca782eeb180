/* SPDX-License-Identifier: MIT */
/*
** Settings of an operator who cannot change the program: the environment variable LUA_GC, words
** separated by commas.
**
**   generational, incremental  the mode
**   pause=N, stepmul=N         parameters of the incremental mode, percent
**   major=N                    multiplier of the generational mode, percent
**   nursery=N                  bytes from one minor collection to the next; N may
**                              end with K or M
**   nursery=N-M                each nursery has another size, from N to M
**   huge-pages                 requests huge pages for each chunk of a big heap as soon as
**                              the chunk is mapped
**   no-madvise                 the heap does not call madvise
**
** The settings hold for the life of a state. If a word is wrong, the whole variable has no effect,
** and a message reports the first wrong word. Programs that run with the rights of another user do
** not read the variable.
**
** If a program sets a parameter that LUA_GC has set, the call returns its usual result and has no
** other effect. "stop", full collections and explicit steps work as usual. The result of a step
** depends on the mode of the program, even if LUA_GC sets the other mode. Reason: a program of the
** incremental mode may run steps in a loop until one returns true at the end of a cycle.
*/

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE	/* secure_getenv */
#endif

#include <stdio.h>
#include <stdlib.h>

#include "lgc.h"

#include "tuning.h"

#define PERCENT_MAX	10000u
#define NURSERY_MOST	((size_t)1024 * 1024 * 1024)

/* The error message contains at most this number of bytes of the wrong word. */
#define SHOWN	LUA_IDSIZE

#define KNOWN \
  "generational, incremental, pause=PERCENT, stepmul=PERCENT, major=PERCENT, " \
  "nursery=BYTES, huge-pages, no-madvise"


/* Prints an error message for a wrong word of the variable LUA_GC, of n bytes, once per process.
   why: the reason. */
static void complain (const char *word, size_t n, const char *why) {
  static int reported;
  char text[SHOWN + 1];
  size_t i;
  if (__atomic_exchange_n(&reported, 1, __ATOMIC_RELAXED)) return;
  for (i = 0; i < n && i < SHOWN; i++)
    text[i] = (word[i] >= ' ' && word[i] <= '~') ? word[i] : '?';
  text[i] = '\0';
  fprintf(stderr, "lua: LUA_GC: \"%s%s\" %s; the variable has no effect\n", text,
          (n > SHOWN) ? "..." : "", why);
}


/* Reads the decimal number from p to 'end' into *n, and returns 1. Returns 0 if the text is no
   decimal number, or if the number is above 'most'. */
static int tuning_number (const char *p, const char *end, size_t most, size_t *n) {
  *n = 0;
  if (p == end) return 0;
  for (; p < end; p++) {
    if (*p < '0' || *p > '9') return 0;
    *n = *n * 10 + (size_t)(*p - '0');
    if (*n > most) return 0;
  }
  return 1;
}


static int percent (const char *p, const char *end, unsigned *to) {
  size_t n;
  if (!tuning_number(p, end, PERCENT_MAX, &n)) return 0;
  *to = (unsigned)n + 1;
  return 1;
}


static int size (const char *p, const char *end, size_t *to) {
  unsigned shift = 0;
  if (p < end && (end[-1] == 'K' || end[-1] == 'k')) shift = 10;
  else if (p < end && (end[-1] == 'M' || end[-1] == 'm')) shift = 20;
  if (!tuning_number(p, end - (shift > 0), NURSERY_MOST >> shift, to)) return 0;
  *to <<= shift;
  return *to >= LUAN_LEASTNURSERY;
}


/* Reads a size, or two sizes with a '-' between them, into t->nursery and t->most. Returns 0 if one
   is wrong, or if the second is not larger than the first. */
static int sizes (const char *p, const char *end, luaN_Tuning *t) {
  const char *between = (const char *)memchr(p, '-', (size_t)(end - p));
  t->most = 0;
  if (between == NULL) return size(p, end, &t->nursery);
  return size(p, between, &t->nursery) && size(between + 1, end, &t->most) &&
         t->nursery < t->most;
}


/* Reads a word of n bytes into *t. Returns NULL, or the reason why the word is wrong. */
static const char *readword (luaN_Tuning *t, const char *word, size_t n) {
  static const char *const names[] = {"nursery=", "pause=", "stepmul=", "major="};
  unsigned *const percents[] = {NULL, &t->pause, &t->stepmul, &t->major};
  int i, mode = (n == 12 && memcmp(word, "generational", n) == 0) ? KGC_GEN
              : (n == 11 && memcmp(word, "incremental", n) == 0) ? KGC_INC : -1;
  if (mode >= 0) {
    if (t->mode != 0 && t->mode != 1 + mode) return "is a second mode: give only one";
    t->mode = cast_byte(1 + mode);
    return NULL;
  }
  if (n == 10 && memcmp(word, "huge-pages", n) == 0) {
    t->hugepages = 1;
    return NULL;
  }
  if (n == 10 && memcmp(word, "no-madvise", n) == 0) {
    t->nomadvise = 1;
    return NULL;
  }
  for (i = 0; i < 4; i++) {
    size_t len = strlen(names[i]);
    if (n < len || memcmp(word, names[i], len) != 0) continue;
    if ((i == 0) ? sizes(word + len, word + n, t) : percent(word + len, word + n, percents[i]))
      return NULL;
    return (i == 0) ? "must have a size from 4K to 1024M, or a range of sizes such as 1M-64M"
                    : "must have a percentage from 0 to 10000";
  }
  return "is not known (known: " KNOWN ")";
}


void luaN_readtuning (global_State *g) {
  luaN_Tuning t;
  const char *s = secure_getenv("LUA_GC");
  if (s == NULL) return;
  memset(&t, 0, sizeof(t));
  while (*s != '\0') {
    size_t n = strcspn(s, ",");
    const char *why = (n > 0) ? readword(&t, s, n) : NULL;
    if (why != NULL) {
      complain(s, n, why);
      return;
    }
    s += n + (s[n] != '\0');
  }
  g->heap.gc.pace.tuning = t;
  g->heap.gc.pace.fullcycles = (t.mode == 1 + KGC_INC);
}
