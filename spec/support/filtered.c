/* SPDX-License-Identifier: MIT */
/*
** filtered: a Lua module that installs a seccomp filter. The filter makes one system call fail.
**
**   filter(how [, call]) -> true, or nil if the system has no such filters. From then on, the call
**   (a key of 'calls', default "madvise") returns the error EPERM if how is "errno", or ends the
**   process by SIGSYS if how is "kill". Child processes inherit the filter.
*/
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <lua.h>
#include <lauxlib.h>

static const struct { const char *name; unsigned number; } calls[] = {
  {"madvise", SYS_madvise}, {"sigaction", SYS_rt_sigaction}, {"socket", SYS_socket},
  {"bind", SYS_bind}, {"fcntl", SYS_fcntl}, {"clone3", SYS_clone3},
  {"getcwd", SYS_getcwd}, {"gettid", SYS_gettid}
};


static int l_filter (lua_State *L) {
  int kill = strcmp(luaL_checkstring(L, 1), "kill") == 0, i = 0;
  const char *name = luaL_optstring(L, 2, "madvise");
  while (strcmp(calls[i].name, name) != 0) i++;
  struct sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, kill ? SECCOMP_RET_KILL : SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
  lua_settop(L, 0);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0)
    lua_pushboolean(L, 1);
  else
    luaL_pushfail(L);
  return 1;
}

int luaopen_filtered (lua_State *L);

int luaopen_filtered (lua_State *L) {
  static const luaL_Reg functions[] = {{"filter", l_filter}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
