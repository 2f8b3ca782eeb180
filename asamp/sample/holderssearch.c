/* SPDX-License-Identifier: MIT */
/* Finds the references that keep samples alive, in a child process (holderssearch.h). */
#define _GNU_SOURCE
#include "holderssearch.h"
#include "binding.h"
#include "clock.h"
#include "pages.h"
#include "quietfork.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT	((size_t)4 << 20)	/* bytes of shared memory for Holders.text */

/* Header of the shared memory through which the child returns the paths that it found. The fields
   without a comment are those of the struct Holders with the same names. The arrays 'ids', 'paths'
   and 'text' of that struct follow the header. */
typedef struct HoldersAnswer {
  int whole;	/* 1: the result is complete */
  uint32_t npaths;
  size_t ntext;
  uint64_t left, cut;
} HoldersAnswer;

static size_t sizeofids (size_t n) {
  return (n + 2) / 2 * 2 * sizeof(uint32_t);
}

static uint32_t *ids (HoldersAnswer *x) {
  return (uint32_t *)(x + 1);
}

static HolderPath *paths (HoldersAnswer *x, size_t n) {
  return (HolderPath *)((char *)(x + 1) + sizeofids(n));
}

static char *holderssearch_text (HoldersAnswer *x, size_t n) {
  return (char *)(paths(x, n) + READER_MAXPATHS + 1);
}

/* Copies the result to the shared memory, in the child. Sets x->whole to 1 if the result fits. */
static void holderssearch_write (HoldersAnswer *x, const Holders *h) {
  if (h->ntext > TEXT || h->npaths > READER_MAXPATHS + 1) return;
  memcpy(ids(x), h->ids, h->n * sizeof(*h->ids));
  memcpy(paths(x, h->n), h->paths, h->npaths * sizeof(*h->paths));
  if (h->ntext > 0) memcpy(holderssearch_text(x, h->n), h->text, h->ntext);
  x->npaths = h->npaths;
  x->ntext = h->ntext;
  x->left = h->left;
  x->cut = h->cut;
  x->whole = 1;
}

int holderssearch_start (HoldersSearch *a, lua_State *L, const void *const *owners, size_t n) {
  Holders h;
  a->start = clock_now();
  a->n = n;
  a->size = sizeof(HoldersAnswer) + sizeofids(n) + (READER_MAXPATHS + 1) * sizeof(HolderPath) +
            TEXT;
  a->answer = mmap(NULL, a->size, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (a->answer == MAP_FAILED) return 0;
  a->parent = getpid();
  a->child = quietfork(0, 0);
  if (a->child == 0) {
    if (holders_walk(&h, L, owners, n, pages_realloc)) holderssearch_write(a->answer, &h);
    _exit(0);
  }
  if (a->child < 0) {
    munmap(a->answer, a->size);
    a->child = 0;
    return 0;
  }
  a->nanoseconds = clock_since(a->start);
  return 1;
}

static void *holderssearch_copy (const void *from, size_t size) {
  void *to = malloc(size + 1);
  if (to != NULL) memcpy(to, from, size);
  return to;
}

/* Copies the child's result to *h. Returns 1, or -1 if the result is incomplete or there is not
   enough memory. */
static int holderssearch_take (const HoldersSearch *a, Holders *h) {
  HoldersAnswer *x = a->answer;
  memset(h, 0, sizeof(*h));
  if (!x->whole) return -1;
  h->n = a->n;
  h->npaths = x->npaths;
  h->ntext = x->ntext;
  h->left = x->left;
  h->cut = x->cut;
  h->start = a->start;
  h->nanoseconds = a->nanoseconds;
  h->ids = holderssearch_copy(ids(x), a->n * sizeof(*h->ids));
  h->paths = holderssearch_copy(paths(x, a->n), x->npaths * sizeof(*h->paths));
  h->text = holderssearch_copy(holderssearch_text(x, a->n), x->ntext);
  if (h->ids != NULL && h->paths != NULL && h->text != NULL && holders_name(h)) return 1;
  holders_free(h);
  return -1;
}

int holderssearch_poll (HoldersSearch *a, Holders *h) {
  int status, result;
  if (a->parent != getpid()) {
    holderssearch_end(a);
    return -1;
  }
  if (waitpid(a->child, &status, WNOHANG | __WALL) == 0) return 0;
  result = holderssearch_take(a, h);
  a->child = 0;
  munmap(a->answer, a->size);
  return result;
}

void holderssearch_end (HoldersSearch *a) {
  int status;
  if (a->child == 0) return;
  if (a->parent == getpid()) {
    kill(a->child, SIGKILL);
    waitpid(a->child, &status, __WALL);
  }
  a->child = 0;
  munmap(a->answer, a->size);
}
