/* SPDX-License-Identifier: MIT */
/* Checks whether memory is readable (readable.h). */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include "readable.h"

#include <errno.h>
#include <libunwind.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGELOG	12	/* log2 of the bytes of a page */
#define NPAGES	32u	/* number of slots of a thread's cache; with 8, a walk of a new stack makes
                           three times as many system calls */

/* The calling thread's cache, direct-mapped: numbers (address >> PAGELOG) of pages that were
   readable in the present walk; 0: empty slot. */
static __thread uintptr_t known[NPAGES]
    __attribute__((tls_model("initial-exec")));

/* Returns 1 if the 8 bytes at an address are readable, or the address is in a page of the cache.
   Passes the address as a signal mask to a system call with an invalid first argument. If the
   kernel cannot read the mask, it reports EFAULT, not the invalid argument. */
static int isreadable (uintptr_t address) {
  uintptr_t page = address >> PAGELOG;
  int e = errno, there;
  if (known[page % NPAGES] == page) return page != 0;
  (void)syscall(SYS_rt_sigprocmask, -1, address, NULL, sizeof(uint64_t));
  there = (errno != EFAULT);
  errno = e;
  if (there) known[page % NPAGES] = page;
  return there;
}

int readable_word (uintptr_t address) {
  return isreadable(address) && isreadable(address + sizeof(uint64_t) - 1);
}

void readable_forget (void) {
  unsigned i;
  for (i = 0; i < NPAGES; i++) known[i] = 0;
}

/* A word that may be unaligned, because libunwind also reads code. */
typedef unw_word_t Word __attribute__((aligned(1)));

/* Reads or writes a word for libunwind. Returns 0, or an error code of libunwind if the word is
   unreadable. Not instrumented, because the address sanitizer forbids reads between the variables
   of a stack. */
__attribute__((no_sanitize_address))
static int access_ (unw_addr_space_t as, unw_word_t address, unw_word_t *value,
                    int write, void *arg) {
  (void)as; (void)arg;
  if (write) *(Word *)address = *value;
  else if (readable_word(address)) *value = *(const Word *)address;
  else return -UNW_EUNSPEC;
  return 0;
}

/* Replaces libunwind's function that reads and writes memory by access_. A walk initializes the
   table that contains the function; unw_get_accessors does not always do so. So this function makes
   a walk first. */
static void use (void) {
  void *a[1];
  (void)unw_backtrace(a, 1);
  unw_get_accessors(unw_local_addr_space)->access_mem = access_;
}

void readable_use (void) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  pthread_once(&control, use);
}
