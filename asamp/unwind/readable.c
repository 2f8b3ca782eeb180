/* SPDX-License-Identifier: MIT */
/*
** What libunwind may read (readable.h).
*/
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include "readable.h"

#include <errno.h>
#include <libunwind.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGELOG	12
#define NPAGES	8u

/* Pages that could be read, each where its number says. 0: none yet. */
static __thread uintptr_t known[NPAGES]
    __attribute__((tls_model("initial-exec")));


/*
** Is there memory at that word? The kernel reads a signal mask from there before
** it finds that what is to be done with it makes no sense.
*/
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


/* A word anywhere: libunwind reads code, too. */
typedef unw_word_t Word __attribute__((aligned(1)));

/* The words are a stack's, with what a sanitizer guards there. */
__attribute__((no_sanitize_address))
static int access_ (unw_addr_space_t as, unw_word_t address, unw_word_t *value,
                    int write, void *arg) {
  (void)as; (void)arg;
  if (write) *(Word *)address = *value;
  else if (readable_word(address)) *value = *(const Word *)address;
  else return -UNW_EUNSPEC;
  return 0;
}


/* The first walk sets what is to be replaced; unw_get_accessors may be the one of
   libunwind-generic, which has the same name and sets nothing of the other's. */
static void use (void) {
  void *a[1];
  (void)unw_backtrace(a, 1);
  unw_get_accessors(unw_local_addr_space)->access_mem = access_;
}


void readable_use (void) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  pthread_once(&control, use);
}
