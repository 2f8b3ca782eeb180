/* SPDX-License-Identifier: MIT */
/*
** A host program that behaves like a daemon. Arguments: an action, a script, and for some a folder:
**   fork    runs the script; a child process runs it in the same state and in a new one, and another
**           child executes /bin/true
**   chroot  enters the folder (chroot), becomes user 65534, and runs the script there
**   closed  closes all descriptors, and runs the script; exits with 3 if one of the descriptors 0 to
**           2 is open afterwards
**   dropped runs the script; a child that may create no threads (RLIMIT_NPROC) becomes user 65534,
**           and runs it in the same state
**   served  runs the script; a child runs it in the same state repeatedly until a file named "stop"
**           exists
**   called  runs the script; a child calls the function that the script has assigned to 'f', in the
**           same state
**   modules runs the script in 20 states, one after the other
**   clone   runs the script; a child that is created without fork handlers runs it in the same state
**   reused  closes all descriptors except 0 to 2 after the first state, reuses their numbers for other
**           files, and runs the script again
**   close   closes all descriptors except 0 to 2 after the first state, and runs the script again
*/
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#include "../settledfork.h"

static lua_State *state (void) {
  lua_State *L = luaL_newstate();
  if (L == NULL) exit(9);
  luaL_openlibs(L);
  return L;
}

static void run (lua_State *L, const char *script) {
  if (luaL_dofile(L, script) != LUA_OK) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    exit(8);
  }
}

static void child (lua_State *L, const char *script) {
  lua_State *own;
  pid_t pid = settledfork(5000);
  if (pid == 0) {
    run(L, script);
    own = state();
    run(own, script);
    lua_close(own);
    lua_close(L);
    exit(0);
  }
  waitpid(pid, NULL, 0);
  pid = fork();
  if (pid == 0) {
    execl("/bin/true", "true", (char *)NULL);
    _exit(7);
  }
  waitpid(pid, NULL, 0);
}

static void dropped (lua_State *L, const char *script) {
  const struct rlimit none = {0, 0};
  pid_t pid = settledfork(5000);
  if (pid == 0) {
    if (setrlimit(RLIMIT_NPROC, &none) != 0 || setgroups(0, NULL) != 0 || setgid(65534) != 0 ||
        setuid(65534) != 0) _exit(4);
    run(L, script);
    lua_close(L);
    exit(0);
  }
  waitpid(pid, NULL, 0);
}

static void served (lua_State *L, const char *script) {
  pid_t pid = settledfork(5000);
  if (pid == 0) {
    while (access("stop", F_OK) != 0) {
      run(L, script);
      usleep(1000);
    }
    lua_close(L);
    exit(0);
  }
  waitpid(pid, NULL, 0);
}

static void called (lua_State *L) {
  pid_t pid = settledfork(5000);
  if (pid == 0) {
    lua_getglobal(L, "f");
    lua_call(L, 0, 0);
    lua_close(L);
    exit(0);
  }
  waitpid(pid, NULL, 0);
}

static void modules (const char *script) {
  int i;
  for (i = 0; i < 20; i++) {
    lua_State *L = state();
    run(L, script);
    lua_close(L);
  }
}

static void cloned (lua_State *L, const char *script) {
  pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) {
    run(L, script);
    exit(0);
  }
  waitpid(pid, NULL, 0);
}

int main (int argc, char **argv) {
  const char *what, *script;
  lua_State *L;
  int i;
  if (argc < 3) return 2;
  what = argv[1];
  script = argv[2];
  if (strcmp(what, "chroot") == 0) {
    if (chroot(argv[3]) != 0 || chdir("/") != 0 || setgroups(0, NULL) != 0 ||
        setgid(65534) != 0 || setuid(65534) != 0) return 4;
  }
  if (strcmp(what, "closed") == 0)
    for (i = 0; i < 100; i++) close(i);
  if (strcmp(what, "modules") == 0) {
    modules(script);
    return 0;
  }
  L = state();
  run(L, script);
  if (strcmp(what, "fork") == 0) child(L, script);
  if (strcmp(what, "dropped") == 0) dropped(L, script);
  if (strcmp(what, "served") == 0) served(L, script);
  if (strcmp(what, "called") == 0) called(L);
  if (strcmp(what, "clone") == 0) cloned(L, script);
  if (strcmp(what, "close") == 0 || strcmp(what, "reused") == 0) {
    for (i = 3; i < 100; i++) close(i);
    if (strcmp(what, "reused") == 0)
      for (i = 3; i < 40; i++) open("/dev/null", O_RDWR);
    run(L, script);
  }
  if (strcmp(what, "closed") == 0)
    for (i = 0; i < 3; i++)
      if (fcntl(i, F_GETFD) >= 0) return 3;
  lua_close(L);
  return 0;
}
