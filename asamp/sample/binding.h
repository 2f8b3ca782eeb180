/* SPDX-License-Identifier: MIT */
/*
** Finds the functions of Lua that a C module calls. A process may contain two copies of Lua, or one
** loaded with RTLD_LOCAL; the dynamic loader would then bind a module to the wrong copy or to none.
** So modules are not linked to Lua. They call Lua through pointers, looked up in the object file
** whose code calls the module's luaopen_ function. Each luaopen_ function starts with
**
**   if (!binding_open(L, "profiler.core", 1)) return 0;
**
**   BD1  no function in 'binding' is called before binding_open or binding_try has returned 1;
**   BD2  all functions in 'binding' are of one object file. A module serves only one copy of Lua in
**        a process; binding_open fails for another copy;
**   BD3  the object file of the served copy is never unloaded.
*/
#ifndef asamp_binding_h
#define asamp_binding_h

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"
#include "seam.h"

/* Lists of the functions that C modules call. BINDING_LUA: functions of Lua's own API.
   BINDING_SEAM: functions of seam.h. */
#define BINDING_LUA(X) X(luaL_argerror) X(luaL_checkinteger) \
  X(luaL_checklstring) X(luaL_checkoption) X(luaL_checkstack) \
  X(luaL_checktype) X(luaL_checkudata) X(luaL_checkversion_) X(luaL_error) \
  X(luaL_loadbufferx) X(luaL_newmetatable) X(luaL_newstate) \
  X(luaL_openlibs) X(luaL_optinteger) X(luaL_optlstring) \
  X(luaL_setfuncs) X(luaL_setmetatable) X(luaL_tolstring) X(lua_callk) X(lua_close) X(lua_copy) \
  X(lua_createtable) X(lua_error) X(lua_gc) X(lua_getfield) X(lua_getinfo) X(lua_gettop) \
  X(lua_isstring) X(lua_newuserdatauv) X(lua_next) X(lua_pcallk) \
  X(lua_pushboolean) X(lua_pushcclosure) X(lua_pushfstring) \
  X(lua_pushinteger) X(lua_pushlightuserdata) X(lua_pushlstring) \
  X(lua_pushnil) X(lua_pushnumber) X(lua_pushstring) X(lua_pushvalue) \
  X(lua_rawgeti) X(lua_rawgetp) X(lua_rawlen) X(lua_rawseti) X(lua_rawsetp) X(lua_rotate) \
  X(lua_setfield) X(lua_setmetatable) X(lua_settop) X(lua_toboolean) \
  X(lua_toclose) X(lua_tointegerx) X(lua_tolstring) X(lua_topointer) X(lua_touserdata) \
  X(lua_type) X(lua_typename)

#define BINDING_SEAM(X) X(luaN_allocated) X(luaN_beside) X(luaN_check) X(luaN_code) \
  X(luaN_collect) X(luaN_distance) X(luaN_edges) X(luaN_field) X(luaN_frames) \
  X(luaN_getlimits) X(luaN_getsampler) X(luaN_globals) X(luaN_interrupt) X(luaN_isallocating) \
  X(luaN_isclosing) X(luaN_isdead) X(luaN_ismain) X(luaN_label) X(luaN_line) \
  X(luaN_main) X(luaN_memory) X(luaN_metatable) X(luaN_name) \
  X(luaN_newframes) X(luaN_next) X(luaN_object) X(luaN_places) \
  X(luaN_processor) X(luaN_protected) X(luaN_registry) X(luaN_replaced) X(luaN_request) \
  X(luaN_running) \
  X(luaN_setcopies) X(luaN_setcounts) X(luaN_setdistance) X(luaN_setlabel) X(luaN_setlabels) \
  X(luaN_setlimits) X(luaN_setsampler) X(luaN_statebytes) X(luaN_walk) X(luaN_watch)

/* The addresses of the bound functions. 'binding' is a hidden symbol, so that a call through it
   needs no lookup in the global offset table. */
typedef struct Binding {
#define FIELD(f)	__typeof__(f) *f;
  BINDING_LUA(FIELD)
  BINDING_SEAM(FIELD)
#undef FIELD
} Binding;

extern Binding binding __attribute__((visibility("hidden")));

/*
** Binds the module to the copy of Lua whose code calls the C function that contains binding_open.
** Returns 1 on success. 'seam' 1: also binds the functions of seam.h. If the module is already
** bound to this copy, only returns 1.
**
** Raises a Lua error if the copy lacks a function or the module already serves another copy. If the
** copy lacks luaL_error, writes a line to stderr and returns 0. Thread-safe.
*/
#define binding_open(L,module,seam) \
  binding_of(L, module, seam, __builtin_return_address(0))
int binding_of (lua_State *L, const char *module, int seam, void *caller);

/* Binds the module to the copy of Lua whose code has the address 'caller', with the functions of
   seam.h if 'seam' is 1. Returns 1. On failure returns 0 with a line in 'err', where binding_open
   would raise an error. */
int binding_try (const char *module, int seam, void *caller, char *err, size_t errsize);

#ifndef BINDING_NAMES	/* binding.c needs the real names of the functions */
#define luaL_argerror	(*binding.luaL_argerror)
#define luaL_checkinteger	(*binding.luaL_checkinteger)
#define luaL_checklstring	(*binding.luaL_checklstring)
#define luaL_checkoption	(*binding.luaL_checkoption)
#define luaL_checkstack	(*binding.luaL_checkstack)
#define luaL_checktype	(*binding.luaL_checktype)
#define luaL_checkudata	(*binding.luaL_checkudata)
#define luaL_checkversion_	(*binding.luaL_checkversion_)
#define luaL_error	(*binding.luaL_error)
#define luaL_loadbufferx	(*binding.luaL_loadbufferx)
#define luaL_newmetatable	(*binding.luaL_newmetatable)
#define luaL_newstate	(*binding.luaL_newstate)
#define luaL_openlibs	(*binding.luaL_openlibs)
#define luaL_optinteger	(*binding.luaL_optinteger)
#define luaL_optlstring	(*binding.luaL_optlstring)
#define luaL_setfuncs	(*binding.luaL_setfuncs)
#define luaL_setmetatable	(*binding.luaL_setmetatable)
#define luaL_tolstring	(*binding.luaL_tolstring)
#define lua_callk	(*binding.lua_callk)
#define lua_close	(*binding.lua_close)
#define lua_copy	(*binding.lua_copy)
#define lua_createtable	(*binding.lua_createtable)
#define lua_error	(*binding.lua_error)
#define lua_gc	(*binding.lua_gc)
#define lua_getfield	(*binding.lua_getfield)
#define lua_getinfo	(*binding.lua_getinfo)
#define lua_gettop	(*binding.lua_gettop)
#define lua_isstring	(*binding.lua_isstring)
#define lua_newuserdatauv	(*binding.lua_newuserdatauv)
#define lua_next	(*binding.lua_next)
#define lua_pcallk	(*binding.lua_pcallk)
#define lua_pushboolean	(*binding.lua_pushboolean)
#define lua_pushcclosure	(*binding.lua_pushcclosure)
#define lua_pushfstring	(*binding.lua_pushfstring)
#define lua_pushinteger	(*binding.lua_pushinteger)
#define lua_pushlightuserdata	(*binding.lua_pushlightuserdata)
#define lua_pushlstring	(*binding.lua_pushlstring)
#define lua_pushnil	(*binding.lua_pushnil)
#define lua_pushnumber	(*binding.lua_pushnumber)
#define lua_pushstring	(*binding.lua_pushstring)
#define lua_pushvalue	(*binding.lua_pushvalue)
#define lua_rawgeti	(*binding.lua_rawgeti)
#define lua_rawgetp	(*binding.lua_rawgetp)
#define lua_rawlen	(*binding.lua_rawlen)
#define lua_rawseti	(*binding.lua_rawseti)
#define lua_rawsetp	(*binding.lua_rawsetp)
#define lua_rotate	(*binding.lua_rotate)
#define lua_setfield	(*binding.lua_setfield)
#define lua_setmetatable	(*binding.lua_setmetatable)
#define lua_settop	(*binding.lua_settop)
#define lua_toboolean	(*binding.lua_toboolean)
#define lua_toclose	(*binding.lua_toclose)
#define lua_tointegerx	(*binding.lua_tointegerx)
#define lua_tolstring	(*binding.lua_tolstring)
#define lua_topointer	(*binding.lua_topointer)
#define lua_touserdata	(*binding.lua_touserdata)
#define lua_type	(*binding.lua_type)
#define lua_typename	(*binding.lua_typename)
#define luaN_allocated	(*binding.luaN_allocated)
#define luaN_beside	(*binding.luaN_beside)
#define luaN_check	(*binding.luaN_check)
#define luaN_code	(*binding.luaN_code)
#define luaN_collect	(*binding.luaN_collect)
#define luaN_distance	(*binding.luaN_distance)
#define luaN_edges	(*binding.luaN_edges)
#define luaN_field	(*binding.luaN_field)
#define luaN_frames	(*binding.luaN_frames)
#define luaN_getlimits	(*binding.luaN_getlimits)
#define luaN_getsampler	(*binding.luaN_getsampler)
#define luaN_globals	(*binding.luaN_globals)
#define luaN_interrupt	(*binding.luaN_interrupt)
#define luaN_isallocating	(*binding.luaN_isallocating)
#define luaN_isclosing	(*binding.luaN_isclosing)
#define luaN_isdead	(*binding.luaN_isdead)
#define luaN_ismain	(*binding.luaN_ismain)
#define luaN_label	(*binding.luaN_label)
#define luaN_line	(*binding.luaN_line)
#define luaN_main	(*binding.luaN_main)
#define luaN_memory	(*binding.luaN_memory)
#define luaN_metatable	(*binding.luaN_metatable)
#define luaN_name	(*binding.luaN_name)
#define luaN_newframes	(*binding.luaN_newframes)
#define luaN_next	(*binding.luaN_next)
#define luaN_object	(*binding.luaN_object)
#define luaN_places	(*binding.luaN_places)
#define luaN_processor	(*binding.luaN_processor)
#define luaN_protected	(*binding.luaN_protected)
#define luaN_registry	(*binding.luaN_registry)
#define luaN_replaced	(*binding.luaN_replaced)
#define luaN_request	(*binding.luaN_request)
#define luaN_running	(*binding.luaN_running)
#define luaN_setcopies	(*binding.luaN_setcopies)
#define luaN_setcounts	(*binding.luaN_setcounts)
#define luaN_setdistance	(*binding.luaN_setdistance)
#define luaN_setlabels	(*binding.luaN_setlabels)
#define luaN_setlabel	(*binding.luaN_setlabel)
#define luaN_setlimits	(*binding.luaN_setlimits)
#define luaN_setsampler	(*binding.luaN_setsampler)
#define luaN_statebytes	(*binding.luaN_statebytes)
#define luaN_walk	(*binding.luaN_walk)
#define luaN_watch	(*binding.luaN_watch)
#endif

#endif
