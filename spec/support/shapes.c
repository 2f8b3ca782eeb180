/* SPDX-License-Identifier: MIT */
/*
** shapes: a Lua module of C functions that call f(...) through the kinds of frames that compilers
** generate and that a walk of the C stack must handle.
**
**   fixed(f, ...)      its frame is at a fixed distance from the stack pointer
**   variable(f, n, ..) allocates n bytes by alloca, so that only the frame pointer leads to its frame
**   pointed(f, ...)    is compiled with a frame pointer
**   aligned(f, ...)    its frame is aligned, so that the unwind tables compute the frame's address
**   sorted(f)          calls f through the C library (qsort)
**   signalled(f)       calls f from a signal handler
**   context(f)         calls f on another C stack, from which the first one is not visible
**   beaten(seconds)    does not call f. A handler of SIGUSR1 interrupts it and its callees every
**                      50 us, at any instruction
**   trapped(n)         does not call f. n times a handler interrupts a function at its first
**                      instruction, whose address is odd where possible
**
**   misled(n)          n iterations of a loop in which the unwind tables are wrong: they lead to
**                      an address without memory, between that stack and its end
**   unmapped(n)        8 times n iterations of a loop without unwind tables on another C stack, and
**                      again without that stack, whose address is then in the frame pointer
*/
#define _GNU_SOURCE
#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>

#define NOINLINE	__attribute__((noinline))

static volatile char sink;

static NOINLINE void use (void *p) {
  *(volatile char *)p = sink;
}

static NOINLINE int shape_fixed (lua_State *L) {
  lua_call(L, lua_gettop(L) - 1, 0);
  sink++;
  return 0;
}

static NOINLINE int shape_variable (lua_State *L) {
  size_t n = (size_t)luaL_checkinteger(L, 2);
  char *room = alloca(n + 1);
  memset(room, 1, n + 1);
  lua_remove(L, 2);
  lua_call(L, lua_gettop(L) - 1, 0);
  use(room);
  return 0;
}

__attribute__((noinline, optimize("no-omit-frame-pointer")))
static int shape_pointed (lua_State *L) {
  lua_call(L, lua_gettop(L) - 1, 0);
  sink++;
  return 0;
}

static NOINLINE int shape_aligned (lua_State *L) {
  char room[256] __attribute__((aligned(256)));
  use(room);
  lua_call(L, lua_gettop(L) - 1, 0);
  use(room);
  return 0;
}

static __thread lua_State *running;

/* Calls the Lua function at the top of the stack, which stays there. */
static NOINLINE void callback (void) {
  lua_State *L = running;
  lua_pushvalue(L, -1);
  lua_call(L, 0, 0);
  sink++;
}

static int compared;

/*
** Calls f only at the first comparison, because the C library decides how many comparisons it
** makes.
*/
static NOINLINE int shape_compare (const void *a, const void *b) {
  if (compared++ == 0) callback();
  return *(const int *)a - *(const int *)b;
}

static NOINLINE int shape_sorted (lua_State *L) {
  int two[] = {2, 1};
  running = L;
  compared = 0;
  qsort(two, 2, sizeof(int), shape_compare);
  return 0;
}

static NOINLINE void shape_handler (int signal) {
  (void)signal;
  callback();
}

static NOINLINE int shape_signalled (lua_State *L) {
  struct sigaction a, before;
  memset(&a, 0, sizeof(a));
  a.sa_handler = shape_handler;
  a.sa_flags = SA_NODEFER;
  running = L;
  sigaction(SIGUSR2, &a, &before);
  raise(SIGUSR2);
  sigaction(SIGUSR2, &before, NULL);
  return 0;
}

static NOINLINE void shape_entry (void) {
  callback();
  sink++;
}

static NOINLINE int shape_context (lua_State *L) {
  enum { SIZE = 256 * 1024 };
  ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_sp = lua_newuserdatauv(L, SIZE, 0);
  there.uc_stack.ss_size = SIZE;
  there.uc_link = &here;
  lua_insert(L, -2);
  running = L;
  makecontext(&there, shape_entry, 0);
  swapcontext(&here, &there);
  return 0;
}

static NOINLINE void shape_beat (int signal) {
  int i;
  (void)signal;
  for (i = 0; i < 20000; i++) sink++;
}

/*
** The timer fires once, 50 us after it was set, and each call of the handler sets it again. With
** a periodic timer, a slow machine would execute only the handler.
*/
static timer_t beating;
static const struct itimerspec soon = {{0, 0}, {0, 50000}};

static NOINLINE void shape_again (int signal) {
  shape_beat(signal);
  timer_settime(beating, 0, &soon, NULL);
}

/*
** Half of the instructions of this function save or restore registers and so move the stack
** pointer. Many interrupts therefore hit a frame that changes.
*/
static NOINLINE void shape_saving (void) {
#if defined(__x86_64__)
  __asm__ volatile("" : : : "rbx", "r12", "r13", "r14", "r15");
#endif
  sink++;
}

static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static NOINLINE void shape_beating (double until) {
  int i;
  do {
    for (i = 0; i < 1000; i++) shape_saving();
  } while (now() < until);
  sink++;
}

static NOINLINE int shape_beaten (lua_State *L) {
  double until = now() + luaL_checknumber(L, 1);
  struct sigaction a, before;
  struct sigevent e;
  memset(&a, 0, sizeof(a));
  memset(&e, 0, sizeof(e));
  a.sa_handler = shape_again;
  a.sa_flags = SA_RESTART;
  e.sigev_notify = SIGEV_THREAD_ID;
  e.sigev_signo = SIGUSR1;
  e._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  sigaction(SIGUSR1, &a, &before);
  if (timer_create(CLOCK_MONOTONIC, &e, &beating) != 0) return luaL_error(L, "no timer");
  timer_settime(beating, 0, &soon, NULL);
  shape_beating(until);
  timer_delete(beating);
  sigaction(SIGUSR1, &before, NULL);
  return 0;
}

#if defined(__x86_64__)
#define TRAP		"ud2"
#define TRAPBYTES	2
#define PC(u)		((u)->uc_mcontext.gregs[REG_RIP])
#elif defined(__aarch64__)
#define TRAP		".inst 0"
#define TRAPBYTES	4
#define PC(u)		((u)->uc_mcontext.pc)
#endif

/*
** shape_before is one instruction at an aligned address; on x86-64 it takes one byte. shape_traps
** follows it directly, so that its address is odd there.
*/
__asm__(".text\n\t.balign 16\n\t.type shape_before, %function\n"
        "shape_before:\n\t.cfi_startproc\n\tret\n\t.cfi_endproc\n\t"
        ".size shape_before, . - shape_before\n\t.type shape_traps, %function\n"
        "shape_traps:\n\t.cfi_startproc\n\t" TRAP "\n\tret\n\t.cfi_endproc\n\t"
        ".size shape_traps, . - shape_traps\n");
extern void shape_traps (void) __attribute__((visibility("hidden")));

/* Handler of SIGILL: records the stack. Execution continues after the trap instruction. */
static NOINLINE void shape_trap (int signal, siginfo_t *info, void *context) {
  (void)info;
  shape_beat(signal);
  PC((ucontext_t *)context) += TRAPBYTES;
}

static NOINLINE int shape_trapped (lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  struct sigaction a, before;
  memset(&a, 0, sizeof(a));
  a.sa_sigaction = shape_trap;
  a.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &a, &before);
  while (n-- > 0) shape_traps();
  sigaction(SIGILL, &before, NULL);
  return 0;
}

#if defined(__x86_64__)

static long turns __attribute__((used));
static char *hole __attribute__((used));

/*
** Sets rbp to a wrong address in a loop. The frame of this function has a variable size. So the
** unwind tables compute the frame from rbp, and lead to a wrong frame while the loop runs.
*/
static NOINLINE void shape_lie (void) {
  long n = turns;
  use(alloca((size_t)(n % 16 + 16)));
  __asm__ volatile("mov %%rbp, %%r11\n\tmov %1, %%rbp\n"
                   "1:\tdec %0\n\tjnz 1b\n\tmov %%r11, %%rbp"
                   : "+r"(n) : "r"(hole) : "r11", "cc", "memory");
  sink++;
}

static NOINLINE int shape_misled (lua_State *L) {
  enum { SIZE = 64 * 1024, PAGE = 4096 };
  char *stack = mmap(NULL, SIZE + PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ucontext_t here, there;
  turns = (long)luaL_checkinteger(L, 1);
  if (stack == MAP_FAILED || munmap(stack + SIZE, PAGE) != 0)
    return luaL_error(L, "no stack");
  hole = stack + SIZE + PAGE / 2;
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = SIZE;
  there.uc_link = &here;
  makecontext(&there, shape_lie, 0);
  swapcontext(&here, &there);
  munmap(stack, SIZE);
  return 0;
}

/* A function without unwind tables. libunwind then guesses the caller's frame from rbp. */
__asm__(".text\n\t.type shape_bare, %function\n"
        "shape_bare:\n\tpush %rbp\n\tmov hole(%rip), %rbp\n\tmov turns(%rip), %rsi\n"
        "1:\tdec %rsi\n\tjnz 1b\n\tpop %rbp\n\tret\n\t.size shape_bare, . - shape_bare\n");
extern void shape_bare (void) __attribute__((visibility("hidden")));

static int shape_unmapped (lua_State *L) {
  enum { SIZE = 256 * 1024, PAGE = 4096 };
  ucontext_t here, there;
  int i;
  turns = (long)luaL_checkinteger(L, 1);
  /* uses eight stacks, because the profiler's cache of readable pages has eight entries */
  for (i = 0; i < 8; i++) {
    char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) return luaL_error(L, "no stack");
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = SIZE - (size_t)(i * PAGE);
    there.uc_link = &here;
    hole = stack + there.uc_stack.ss_size - PAGE / 2;
    makecontext(&there, shape_bare, 0);
    swapcontext(&here, &there);
    munmap(stack, SIZE);
    shape_bare();
  }
  return 0;
}

#else

static int shape_misled (lua_State *L) {
  return luaL_error(L, "misled is written for x86-64");
}

static int shape_unmapped (lua_State *L) {
  return luaL_error(L, "unmapped is written for x86-64");
}

#endif

int luaopen_shapes (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"fixed", shape_fixed}, {"variable", shape_variable}, {"pointed", shape_pointed},
    {"aligned", shape_aligned}, {"sorted", shape_sorted}, {"signalled", shape_signalled},
    {"context", shape_context}, {"beaten", shape_beaten}, {"trapped", shape_trapped},
    {"misled", shape_misled}, {"unmapped", shape_unmapped},
    {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}
