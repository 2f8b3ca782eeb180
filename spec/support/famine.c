/* SPDX-License-Identifier: MIT */
/*
** famine: a library for LD_PRELOAD that makes memory requests of libdw and libelf fail. The
** environment variable FAMINE has the numbers of the first and the last request that fails, such
** as "19-21". With "0-0" no request fails, and the process prints the number of requests to
** stderr when it exits.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc (size_t n);
void *__libc_calloc (size_t n, size_t size);
void *__libc_realloc (void *block, size_t n);

/* libdw and libelf are searched in the list of loaded libraries once per EVERY requests */
#define EVERY	64

static unsigned long first, last, requests, searches;
static struct { uintptr_t from, to; } code[2];  /* address ranges of libdw and libelf */
static int ncode;

/* Callback for each loaded object file: stores the address ranges of libdw and libelf. */
static int note (struct dl_phdr_info *info, size_t size, void *ud) {
  const char *name = info->dlpi_name;
  int i;
  (void)size; (void)ud;
  if (name == NULL || (strstr(name, "/libdw") == NULL && strstr(name, "/libelf") == NULL)) return 0;
  for (i = 0; i < info->dlpi_phnum && ncode < 2; i++)
    if (info->dlpi_phdr[i].p_flags & PF_X) {
      code[ncode].from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      code[ncode].to = code[ncode].from + info->dlpi_phdr[i].p_memsz;
      ncode++;
    }
  return 0;
}

static void __attribute__((constructor)) start (void) {
  const char *text = getenv("FAMINE");
  if (text != NULL) sscanf(text, "%lu-%lu", &first, &last);
}

static void __attribute__((destructor)) finish (void) {
  if (first == 0) fprintf(stderr, "famine: %lu requests\n", requests);
}

static int islibrary (uintptr_t caller) {
  return (caller >= code[0].from && caller < code[0].to) ||
         (caller >= code[1].from && caller < code[1].to);
}

/* Returns 1 if the request made at 'caller' fails. */
static int fails (void *caller) {
  unsigned long n;
  if (ncode < 2 && searches++ % EVERY == 0) {
    ncode = 0;
    dl_iterate_phdr(note, NULL);
  }
  if (!islibrary((uintptr_t)caller)) return 0;
  n = __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED);
  if (n < first || n > last) return 0;
  errno = ENOMEM;
  return 1;
}

void *malloc (size_t n) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *calloc (size_t n, size_t size) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc (void *block, size_t n) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(block, n);
}
