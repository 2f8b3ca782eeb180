/* SPDX-License-Identifier: MIT */
/* Looks up the functions of one copy of Lua (binding.h): first among the global symbols of the
   process, then in the object file of this copy. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define BINDING_NAMES
#include "binding.h"
#include "loaded.h"
#include "printable.h"

#define NAME(f)	#f,
static const char *const names[] = { BINDING_LUA(NAME) BINDING_SEAM(NAME) };
#define ONE(f)	+ 1
enum { LUANAMES = 0 BINDING_LUA(ONE) };	/* Number of functions of Lua's own API, which come
                                           before those of seam.h in 'names'. */

#define COUNT(list)	(sizeof(list) / sizeof(*list))

_Static_assert(sizeof(Binding) == COUNT(names) * sizeof(void *),
               "a Binding is an array of pointers, as dlsym gives them");

Binding binding;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  /* Protects 'binding' and 'served'. */
/* The Lua library or program whose functions 'binding' points to; NULL: none yet. */
static const struct link_map *served;

/* Returns the object file that contains an address, or NULL. Stores its address range in
   *where. */
static struct link_map *objectof (void *address, Loaded *where) {
  Dl_info info;
  struct link_map *object = NULL;
  loaded_refresh();
  return (loaded_find(address, where) &&
          dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP)) ? object : NULL;
}

/* Closes a handle, the result of dlopen for an object file whose Lua functions this module will not
   call. If the module uses the file's functions, the handle is never closed, so that the file stays
   loaded (BD3). */
static void binding_release (void *handle) {
  if (handle != RTLD_DEFAULT) dlclose(handle);
}

static const char *binding_nameof (const struct link_map *object) {
  return (object->l_name[0] != '\0') ? object->l_name : "the program itself";
}

/* Returns the address of a symbol if the object file at the addresses 'where' defines it, else
   NULL. A symbol that another object file defines may belong to another copy of Lua. */
static void *ownsymbol (void *handle, const Loaded *where, const char *name) {
  char *address = dlsym(handle, name);
  return (address != NULL && where->from <= address && address < where->to) ? address : NULL;
}

/* Stores in *b the addresses of the Lua functions that the object file at the addresses 'where'
   defines. 'seam' 1: also of the functions of seam.h. Returns the name of the first function that
   is missing, or NULL. */
static const char *binding_find (void *handle, const Loaded *where, int seam, Binding *b) {
  void *found[COUNT(names)] = {NULL};
  size_t n = seam ? COUNT(names) : LUANAMES, i;
  for (i = 0; i < n; i++)
    if ((found[i] = ownsymbol(handle, where, names[i])) == NULL)
      return names[i];
  memcpy(b, found, sizeof(*b));
  return NULL;
}

static int isserved (const struct link_map *object) {
  int yes;
  pthread_mutex_lock(&lock);
  yes = (served != NULL && served == object);
  pthread_mutex_unlock(&lock);
  return yes;
}

/* Makes this C module call the Lua functions *b of the object file 'object'. Does nothing if the
   module already uses the functions of a file, because all calls of a module must reach the same
   copy of Lua. Returns the object file whose functions the module uses. */
static const struct link_map *serve (const struct link_map *object,
                                     const Binding *b) {
  const struct link_map *which;
  pthread_mutex_lock(&lock);
  if (served == NULL) {
    binding = *b;
    served = object;
  }
  which = served;
  pthread_mutex_unlock(&lock);
  return which;
}

typedef int Raise (lua_State *L, const char *format, ...);

/* Makes this C module call the functions of the copy of Lua in the library or program whose code
   has the address 'caller'. 'seam' 1: also the functions of seam.h. Returns 1, or 0 with the reason
   in 'err'. On failure *raise is the function luaL_error of that copy, with which this function's
   caller can raise the error, or NULL. */
static int bind (const char *module, int seam, void *caller, Raise **raise, char *err,
                 size_t errsize) {
  Loaded where = {NULL, NULL, NULL, NULL};
  struct link_map *object = objectof(caller, &where);
  const struct link_map *which;
  const char *missing;
  void *handle = RTLD_DEFAULT, *error;
  Binding b;
  if (isserved(object)) return 1;
  error = ownsymbol(handle, &where, "luaL_error");
  if (error == NULL && object != NULL) {  /* the global symbols belong to another copy of Lua than
                                             the code at 'caller' */
    const char *path = (object->l_name[0] != '\0') ? object->l_name : NULL;
    handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle != NULL) error = ownsymbol(handle, &where, "luaL_error");
  }
  memcpy(raise, &error, sizeof(*raise));
  if (error == NULL) {
    binding_release(handle);
    snprintf(err, errsize, "%s: no module can call this Lua: %s does not export its "
             "functions (lua_*, luaL_*, luaN_*); link a program with -Wl,-E "
             "-Wl,--whole-archive liblua.a -Wl,--no-whole-archive, or to "
             "liblua5.4.so.0", module,
             (object != NULL) ? binding_nameof(object) : "an unknown file");
    return 0;
  }
  missing = binding_find(handle, &where, seam, &b);
  if (missing != NULL) {
    binding_release(handle);
    snprintf(err, errsize, "%s: undefined symbol: %s (in %s)", module, missing,
             binding_nameof(object));
    return 0;
  }
  which = serve(object, &b);
  if (which != object) {
    binding_release(handle);
    snprintf(err, errsize, "%s: this process has two copies of Lua. The module works only with the "
                           "first one that loaded it, in %s, not with the one in %s; link all "
                           "programs and libraries that use Lua to one liblua5.4.so.0", module,
             binding_nameof(which), binding_nameof(object));
    return 0;
  }
  return 1;
}

int binding_try (const char *module, int seam, void *caller, char *err, size_t errsize) {
  Raise *raise;
  return bind(module, seam, caller, &raise, err, errsize);
}

int binding_of (lua_State *L, const char *module, int seam, void *caller) {
  char err[2 * PATH_MAX + 512];
  Raise *raise = NULL;
  if (bind(module, seam, caller, &raise, err, sizeof(err))) return 1;
  if (raise != NULL) return raise(L, "%s", err);
  printable(err);
  fprintf(stderr, "%s\n", err);
  return 0;
}
