/* SPDX-License-Identifier: MIT */
/* Walks the C stack in a signal handler (backtrace.h). */
#define _GNU_SOURCE
#include "backtrace.h"

#include <libunwind.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "descriptor.h"
#include "loaded.h"
#include "readable.h"

#if defined(__x86_64__)
static const int registers[] = {  /* indexes in the array 'gregs', by DWARF register number */
  REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
  REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP
};
#define NREGISTERS	17
#define REGISTER(u,i)	((unw_word_t)(u)->uc_mcontext.gregs[registers[i]])
#define IP	16
#define SP	7
#define FP	6
/* machine code that returns from a signal handler: mov $15, %rax; syscall */
static const unsigned char sigreturn_[] = {0x48, 0xC7, 0xC0, 15, 0, 0, 0, 0x0F, 0x05};
#define SYSCALL	7
#elif defined(__aarch64__)
/* number of registers: 31 general registers, the stack pointer, the program counter */
#define NREGISTERS	33
#define REGISTER(u,i)	((i) == IP ? (u)->uc_mcontext.pc : (i) == SP ? \
			 (u)->uc_mcontext.sp : (u)->uc_mcontext.regs[i])
#define IP	32
#define SP	31
#define FP	29
/* machine code that returns from a signal handler: mov x8, #139; svc #0 */
static const unsigned char sigreturn_[] = {0x68, 0x11, 0x80, 0xD2, 0x01, 0, 0, 0xD4};
#define SYSCALL	4
#endif

/* The library libunwind exports this function, but no header declares it. */
#define search	UNW_OBJ(dwarf_search_unwind_table)
extern int search (unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *table,
                   unw_proc_info_t *to, int needinfo, void *arg);

static unw_addr_space_t space;

/* {== accessors ======================================================== */

/* Start of .eh_frame_hdr, the linker's table of functions, sorted by address. libunwind uses it to
   find a function's entry in the unwind table. */
typedef struct TableHead {
  unsigned char version, encoding, countencoding, entryencoding;
  int32_t frames;
  uint32_t count;
  struct { int32_t from, to; } entry[];
} TableHead;

#define FOURBYTES(encoding)	(((encoding) & 7) == 3)	/* 1 if an encoding (DW_EH_PE_*) uses 4
                                                           bytes */
#define UDATA4	0x03
#define DATAREL_SDATA4	0x3b

/* Returns 1 if the head of the table *h is readable. It is not readable after the object file with
   the table was unloaded. */
static int hashead (const TableHead *h) {
  return readable_word((uintptr_t)h) && readable_word((uintptr_t)(h->entry) - sizeof(uint64_t));
}

static int findinfo (unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *to,
                     int needinfo, void *arg) {
  Loaded object;
  const TableHead *h;
  unw_dyn_info_t d;
  if (!loaded_find((const void *)(uintptr_t)ip, &object)) return -UNW_ENOINFO;
  h = object.table;
  if (h == NULL || (loaded_isold() && !hashead(h)) || h->version != 1 || !FOURBYTES(h->encoding) ||
      h->countencoding != UDATA4 || h->entryencoding != DATAREL_SDATA4)
    return -UNW_ENOINFO;
  memset(&d, 0, sizeof(d));
  d.start_ip = (unw_word_t)(uintptr_t)object.from;
  d.end_ip = (unw_word_t)(uintptr_t)object.to;
  d.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  d.u.rti.segbase = (unw_word_t)(uintptr_t)h;
  d.u.rti.table_data = (unw_word_t)(uintptr_t)h->entry;
  d.u.rti.table_len = h->count * sizeof(*h->entry) / sizeof(unw_word_t);
  return search(as, ip, &d, to, needinfo, arg);
}

static void putinfo (unw_addr_space_t as, unw_proc_info_t *info, void *arg) {
  (void)as; (void)info; (void)arg;
}

static int dynamiclist (unw_addr_space_t as, unw_word_t *list, void *arg) {
  (void)as; (void)list; (void)arg;
  return -UNW_ENOINFO;
}

/* A word that may be unaligned, because libunwind also reads code, and guesses frame addresses. */
typedef unw_word_t Word __attribute__((aligned(1)));

__attribute__((no_sanitize_address, no_sanitize_thread))
static int backtrace_word (unw_addr_space_t as, unw_word_t address, unw_word_t *value,
                           int write, void *arg) {
  (void)as; (void)arg;
  if (write || !readable_word(address)) return -UNW_EINVAL;
  *value = *(const Word *)address;
  return 0;
}

static int reg (unw_addr_space_t as, unw_regnum_t i, unw_word_t *value, int write,
                void *arg) {
  const ucontext_t *u = arg;
  (void)as;
  if (write || i < 0 || i >= NREGISTERS) return -UNW_EBADREG;
  *value = REGISTER(u, i);
  return 0;
}

static int fpreg (unw_addr_space_t as, unw_regnum_t i, unw_fpreg_t *value, int write,
                  void *arg) {
  (void)as; (void)i; (void)value; (void)write; (void)arg;
  return -UNW_EBADREG;
}

static int resume (unw_addr_space_t as, unw_cursor_t *c, void *arg) {
  (void)as; (void)c; (void)arg;
  return -UNW_EINVAL;
}

static int procname (unw_addr_space_t as, unw_word_t address, char *name,
                     size_t size, unw_word_t *offset, void *arg) {
  (void)as; (void)address; (void)name; (void)size; (void)offset; (void)arg;
  return -UNW_ENOINFO;
}

/* }===================================================================== */

/* The functions with which libunwind reads the process. Fields that this file does not set, such as
   those of later versions of libunwind, are NULL. */
static unw_accessors_t accessors;

/* Sets 'space' to a new address space, libunwind's data about the process. The child of a fork
   makes a new one, because another thread of the parent may have held the lock of the old one
   during the fork. */
static void newspace (void) {
  space = unw_create_addr_space(&accessors, 0);
  if (space != NULL) unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
}

static void backtrace_once (void) {
  accessors.find_proc_info = findinfo;
  accessors.put_unwind_info = putinfo;
  accessors.get_dyn_info_list_addr = dynamiclist;
  accessors.access_mem = backtrace_word;
  accessors.access_reg = reg;
  accessors.access_fpreg = fpreg;
  accessors.resume = resume;
  accessors.get_proc_name = procname;
  descriptor_hold();
  (void)unw_get_accessors(unw_local_addr_space);  /* initializes libunwind, which opens a pipe */
  descriptor_release();
  newspace();
  pthread_atfork(NULL, NULL, newspace);
}

int backtrace_open (Backtrace *b, const char *end) {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  loaded_refresh();
  pthread_once(&control, backtrace_once);
  b->nwanted = 0;
  b->end = end;
  return space != NULL;
}

static void backtrace_want (Backtrace *b, uintptr_t ip) {
  unsigned i;
  for (i = 0; i < b->nwanted; i++) {
    if (b->wanted[i] == ip) return;
  }
  if (b->nwanted < BACKTRACE_WANTED) b->wanted[b->nwanted++] = ip;
}

/* Returns the frame at the cursor. 'interrupted' 1: a signal interrupted this frame; then 'ip' of
   the result is the address of the interrupted instruction + 1. */
static UnwindFrame frameof (unw_cursor_t *c, int interrupted) {
  UnwindFrame f = {0, 0, 0};
  unw_word_t ip, sp, fp;
  if (unw_get_reg(c, UNW_REG_IP, &ip) == 0 && ip != 0 &&
      unw_get_reg(c, UNW_REG_SP, &sp) == 0 && unw_get_reg(c, FP, &fp) == 0) {
    f.ip = UNWIND_ADDRESS(ip) + (interrupted != 0);
    f.sp = sp;
    f.fp = fp;
  }
  return f;
}

/* Returns 1 if 'ip' is the address of the code that calls sigreturn, to which signal handlers
   return. Does not use unw_is_signal_frame, whose result differs between versions of libunwind. */
static int isreturn (uintptr_t ip) {
  unw_word_t w[2] = {0, 0};
  size_t i;
  for (i = 0; i * sizeof(*w) < sizeof(sigreturn_); i++) {
    if (backtrace_word(space, ip + i * sizeof(*w), &w[i], 0, NULL) != 0) return 0;
  }
  return memcmp(w, sigreturn_, sizeof(sigreturn_)) == 0;
}

/* Returns 1 if frame i (0: the innermost) with address 'ip' executes the code that returns from a
   signal handler. In this case, the signal has interrupted the next outer frame. */
static int isinterrupted (uintptr_t ip, int i) {
  return isreturn(ip) || (i == 0 && (isreturn(ip - 1) || isreturn(ip - 1 - SYSCALL)));
}

uintptr_t backtrace_start (uintptr_t address) {
  unw_proc_info_t p;
  return (findinfo(space, address, &p, 0, NULL) == 0) ? (uintptr_t)p.start_ip : address;
}

/* Returns the address to store for a function that a signal interrupted at ip - 1: the function's
   start + 2. Readers of profiles expect a return address, so they subtract 1 and clear the lowest
   bit; with 'ip' itself, their result could be before the start of the function. */
static uintptr_t within (uintptr_t ip) {
  return backtrace_start(ip - 1) + 2;
}

/* Continues a walk with libunwind after the first n frames, which have rules, because frame n has
   none. libunwind can only start at the innermost frame, so it visits the n frames again. At the
   first frame after frame n that has a rule, the walk continues with rules. Returns the number of
   all frames. */
static int bylibunwind (Backtrace *b, const ucontext_t *context, void **to, int n) {
  unw_cursor_t c;
  UnwindFrame f, at;
  uintptr_t reported;
  /* 'ruled': index of the frame at which the last walk with rules stopped, because this frame has
     no rule. 'i': index of the frame at libunwind's cursor. */
  int ruled = n, i = 0;
  if (unw_init_remote(&c, space, (void *)(uintptr_t)context) != 0) return n;
  f = frameof(&c, 1);
  reported = f.ip;
  while (f.ip != 0 && i < BACKTRACE_MAX) {
    int interrupted;
    if (i > ruled) {
      at = f;
      ruled = i + unwind_known(&b->rules, &at, b->end, to + i, BACKTRACE_MAX - i);
      to[i] = (void *)reported;
      if (at.ip == 0 || ruled == BACKTRACE_MAX) return ruled;
      backtrace_want(b, at.ip);
    }
    to[i] = (void *)reported;
    interrupted = isinterrupted(f.ip, i++);
    if (unw_step(&c) <= 0) break;
    f = frameof(&c, interrupted);
    reported = (interrupted && f.ip != 0) ? within(f.ip) : f.ip;
  }
  return i;
}

#if defined(LUAN_DEBUG)

/* Checks a walk that used rules: aborts the process if a walk only with libunwind finds other
   addresses than the n addresses in 'to'. */
static void backtrace_check (Backtrace *b, const ucontext_t *context, void *const *to, int n) {
  int m = bylibunwind(b, context, b->other, BACKTRACE_MAX), i = 0;
  while (i < n && i < m && to[i] == b->other[i]) i++;
  if (i < n || m != n) {
    static const char text[] = "backtrace: libunwind and the unwind rules found different frames\n";
    (void)!write(2, text, sizeof(text) - 1);
    abort();
  }
}

#else
#define backtrace_check(b,context,to,n)	((void)0)
#endif

int backtrace_take (Backtrace *b, const ucontext_t *context, void **to) {
  UnwindFrame f;
  int n;
  readable_forget();
  f.ip = REGISTER(context, IP) + 1;
  f.sp = REGISTER(context, SP);
  f.fp = REGISTER(context, FP);
  n = unwind_known(&b->rules, &f, b->end, to, BACKTRACE_MAX);
  if (f.ip != 0 && n < BACKTRACE_MAX) {
    backtrace_want(b, f.ip);
    n = bylibunwind(b, context, to, n);
  }
  backtrace_check(b, context, to, n);
  return n;
}

int backtrace_learn (Backtrace *b) {
  unsigned loads = b->rules.loads;
  int any = 0;
  if (b->nwanted > 0 && loaded_refresh()) unw_flush_cache(space, 0, 0);
  while (b->nwanted > 0) any |= unwind_learn(&b->rules, b->wanted[--b->nwanted]);
  if (b->rules.loads != loads) unw_flush_cache(space, 0, 0);
  return any;
}
