/* SPDX-License-Identifier: MIT */
/*
** A host program that listens at the socket x.sock (ASAMP=listen=x.sock), and sends requests to itself.
**   rotating tenants   twenty states take turns, with a rotation of the profile after each turn, until
**                      each has had three turns; prints by how many KiB the process has grown
**   rotating churn     threads create and close states, others keep theirs, while files rotate all the
**                      time
**   rotating sums      four threads create sixty states in turn, and close most of them immediately,
**                      while files rotate all the time; with ALONE in the environment they do not
**                      rotate. Prints the number of marks
**   rotating last      a state works, its file is rotated, the state continues without a sample or a
**                      collection, and is closed; prints the total of bytes that it has allocated
**   rotating closed    repeatedly closes all descriptors that it does not know, and reuses their numbers
**                      for its own files; prints how many of these files were closed by a request to
**                      stop, the end of its connection, a fork and the child
**   rotating dropped   becomes the user 65534 before it creates its first state, prints a message if
**                      nobody listens at the address in ASAMP=listen, and waits a minute
** At the end it prints "fine".
*/
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"
#include "seam.h"

#define TENANTS	20
#define FILES	16
/*
** number of rounds; larger than the number of clients that the control thread accepts at the same
** time
*/
#define TIMES	80

static lua_State *newstate (void) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  return L;
}

static void work (lua_State *L, int n) {
  lua_pushinteger(L, n);
  lua_setglobal(L, "n");
  if (luaL_dostring(L, "local t = {} for i = 1, n do t[i % 100] = {i} end")) abort();
}

static int call (void) {
  struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "x.sock"};
  int s = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(s, (struct sockaddr *)&a, sizeof(a)) == 0) return s;
  close(s);
  return -1;
}

/* Requests a rotation of the profile. Returns 1 if the answer contains the name of a file. */
static int rotate (void) {
  char b[512] = "";
  ssize_t n = 0;
  int s = call();
  if (s < 0) return 0;
  if (send(s, "rotate\n", 7, MSG_NOSIGNAL) == 7) n = read(s, b, sizeof(b) - 1);
  close(s);
  return n > 4 && strncmp(b, "file", 4) == 0;
}

/*
** Returns the KiB of data and stack of the process. Reservations of malloc for future threads do
** not count, because they are not writable.
*/
static long size (void) {
  long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f == NULL || fscanf(f, "%*d %*d %*d %*d %*d %ld", &pages) != 1) abort();
  fclose(f);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void tenants (void) {
  lua_State *L[TENANTS];
  long before = 0;
  int i;
  for (i = 0; i < TENANTS; i++) L[i] = newstate();
  for (i = 0; i < 3 * TENANTS; i++) {
    work(L[i % TENANTS], 20000);
    if (!rotate()) abort();
    /* by now the first three states have created the data that all states share */
    if (i == 2) before = size();
  }
  printf("%ld\n", size() - before);
  for (i = 0; i < TENANTS; i++) lua_close(L[i]);
}

static int over;

static void *churn (void *ud) {
  lua_State *stays = newstate();
  (void)ud;
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
    lua_State *L = newstate();
    work(L, 500);
    lua_close(L);
    work(stays, 2000);
  }
  lua_close(stays);
  return NULL;
}

static long marks;

static void *sum (void *ud) {
  lua_State *kept = NULL;
  int i;
  (void)ud;
  for (i = 0; i < 60; i++) {
    lua_State *L = newstate();
    if (luaL_dostring(L, "local mark = require 'profiler'.mark local n, keep = 0, {} "
                         "for i = 1, 4000 do keep[i % 100] = ('x'):rep(1000) .. i "
                         "if i % 40 == 0 and mark('m') then n = n + 1 end end return n"))
      fprintf(stderr, "%s\n", lua_tostring(L, -1));
    __atomic_fetch_add(&marks, (long)lua_tointeger(L, -1), __ATOMIC_RELAXED);
    lua_settop(L, 0);
    if (i % 5 < 4) lua_close(L);
    else {
      if (kept != NULL) lua_close(kept);
      kept = L;
    }
  }
  lua_close(kept);
  __atomic_fetch_add(&over, 1, __ATOMIC_RELAXED);
  return NULL;
}

static void sums (void) {
  pthread_t t[4];
  int i;
  for (i = 0; i < 4; i++)
    if (pthread_create(&t[i], NULL, sum, NULL) != 0) abort();
  while (getenv("ALONE") == NULL && __atomic_load_n(&over, __ATOMIC_RELAXED) < 4) {
    (void)rotate();
    usleep(2000);
  }
  for (i = 0; i < 4; i++) pthread_join(t[i], NULL);
  printf("%ld\n", marks);
}

static void last (void) {
  lua_State *L = luaL_newstate();
  unsigned long long born = luaN_allocated(L);
  luaL_openlibs(L);
  lua_gc(L, LUA_GCSTOP);
  work(L, 100);
  if (!rotate()) abort();
  work(L, 1000);
  printf("%llu\n", luaN_allocated(L) - born);
  lua_close(L);
}

static void closed (void) {
  lua_State *L = newstate();
  int fd[FILES + 2 * TIMES], i, client, times, more, gone = 0;
  work(L, 100000);
  if (!rotate()) abort();
  /* the control thread has the other end of this connection */
  client = call();
  if (client < 0 || write(client, "stats\n", 6) != 6) abort();
  usleep(200000);
  /* in each round the host opens more files, so that the socket gets another number */
  for (times = 0; times < TIMES; times++) {
    closefrom(3);
    /* in the last round a connection gets a number that it had before */
    more = (times < TIMES - 1) ? 2 * times : 2 * times - 1;
    for (i = 0; i < FILES + more; i++) fd[i] = open("/dev/zero", O_RDONLY);
    /* waits until the control thread listens again */
    for (i = 0; i < 100 && !rotate(); i++) usleep(5000);
    if (i == 100) puts("not heard");
  }
  if (fork() == 0) {
    for (i = 0; i < FILES + more; i++) gone += (fcntl(fd[i], F_GETFD) < 0);
    printf("%d\n", gone);
    fflush(stdout);
    _exit(0);
  }
  wait(NULL);
  for (i = 0; i < FILES + more; i++) gone += (fcntl(fd[i], F_GETFD) < 0);
  printf("%d\n", gone);
  work(L, 100000);
  lua_close(L);
}

static void dropped (void) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  lua_State *L;
  int s = socket(AF_UNIX, SOCK_STREAM, 0);
  if (setgid(65534) != 0 || setuid(65534) != 0) abort();
  L = newstate();
  sprintf(a.sun_path, "/tmp/asamp-65534/%d.sock", (int)getpid());
  if (connect(s, (struct sockaddr *)&a, sizeof(a)) != 0) perror(a.sun_path);
  close(s);
  sleep(60);
  lua_close(L);
}

int main (int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "tenants") == 0) tenants();
  else if (strcmp(what, "sums") == 0) sums();
  else if (strcmp(what, "last") == 0) last();
  else if (strcmp(what, "dropped") == 0) dropped();
  else if (strcmp(what, "churn") == 0) {
    pthread_t t[4];
    int i, n = 0;
    for (i = 0; i < 4; i++)
      if (pthread_create(&t[i], NULL, churn, NULL) != 0) return 1;
    /* waits until the process answers a request to rotate its file */
    for (i = 0; i < 200 && !rotate(); i++) usleep(20000);
    for (i = 0; i < 300; i++) n += rotate();
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    for (i = 0; i < 4; i++) pthread_join(t[i], NULL);
    if (n < 300) printf("%d rotations\n", n);
  }
  else closed();
  puts("fine");
  return 0;
}
