# SPDX-License-Identifier: MIT
# The rules that build every variant of the interpreter: make -f lua/build.mk
# V=plain|fork|debug|asan|tsan|install. They create bin/, lib/, include/ and share/ in P; ROOT is the folder
# from which these will be used. This file builds Lua; lualib/build.mk builds the modules, for every variant
# but plain. Variables that contain others are expanded when they are used (=), so that their order does not
# matter.
V ?= fork
.DEFAULT_GOAL := all
B := build/$(V)
P ?= $(if $(filter fork,$(V)),build,$(B))
ROOT ?= $(abspath $(P))
# ROOT is used in Lua's module paths, in C strings, in recipes and in shell words. It must not contain
# characters that are special there. Spaces are possible.
hash := \#
BAD := $(firstword $(foreach c,' " ; ? \ $(hash) ` $$,$(if $(findstring $c,$(ROOT)),$c)))
ifneq ($(BAD),)
$(error '$(ROOT)' has a $(BAD), which a module path cannot have: move these \
  sources to a folder of another name)
endif
# Removes empty files, which remain if a machine stops during a build. The linker would accept an empty file
# as an empty script.
$(shell find '$(B)' '$(P)/bin' '$(P)/lib' -type f -size 0 \
  \( -path '*/bin/*' -o -name '*.o' -o -name '*.a' -o -name '*.so*' \) -delete 2>/dev/null)
TARBALL := build/dl/lua.tar.gz
SRC := $(B)/src
# The user's CFLAGS and LDFLAGS follow the variant's own options. Options for link-time optimization are
# removed, because objcopy, which creates the section with the core's code, rejects such objects.
EXTRA ?= $(if $(filter command%,$(origin CFLAGS)),$(CFLAGS))
LDEXTRA ?= $(if $(filter command%,$(origin LDFLAGS)),$(LDFLAGS))
override EXTRA := $(filter-out -flto% -ffat-lto-objects,$(EXTRA))

CC := gcc
MULTIARCH := $(shell gcc -print-multiarch 2>/dev/null || $(CC) -print-multiarch 2>/dev/null)
OPT_plain := -O2
OPT_fork := -O2
OPT_install := -O2
OPT_debug := -O1 -g -DLUAI_ASSERT -DLUA_USE_APICHECK -DLUAN_DEBUG
OPT_asan := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
  -fno-sanitize-recover=undefined -DLUAI_ASSERT
OPT_tsan := -O1 -g -fsanitize=thread
PATHS := -DLUA_PATH_DEFAULT='"$(ROOT)/share/lua/5.4/?.lua;$(ROOT)/share/lua/5.4/?/init.lua;/usr/local/share/lua/5.4/?.lua;/usr/local/share/lua/5.4/?/init.lua;/usr/local/lib/lua/5.4/?.lua;/usr/local/lib/lua/5.4/?/init.lua;/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua;./?.lua;./?/init.lua"' \
  -DLUA_CPATH_DEFAULT='"$(ROOT)/lib/lua/5.4/?.so;/usr/local/lib/lua/5.4/?.so;/usr/lib/$(MULTIARCH)/lua/5.4/?.so;/usr/lib/lua/5.4/?.so;/usr/local/lib/lua/5.4/loadall.so;./?.so"'
# Returns those of the options $(1) that this compiler knows for the language $(2): clang does not have all
# options of gcc, and other processors not all of x86.
known = $(foreach o,$(1),$(shell $(CC) -Werror $(o) -x $(2) -c -o /dev/null /dev/null \
  2>/dev/null && echo $(o)))
# Local variables stay on the stack, where stack walks search for them. By default, newer compilers put them
# into separate memory in ASan builds, to find uses after a return.
ifeq ($(V),asan)
OPT_asan += $(call known,--param=asan-use-after-return=0,c)
endif
# Prevents that a branch of the bytecode loop crosses a boundary of 32 bytes. Without this option, the
# branches that cross a boundary changed from build to build, and the time of programs by up to 10%.
comma := ,
PLACE := $(call known,-Wa$(comma)-mbranches-within-32B-boundaries,assembler)
# Aligns loops, because loops over the bytes of a string have only a few instructions. When such a loop
# crossed two cache lines, which depends on the build, string.reverse took 33% more time.
BYTES := $(call known,-falign-loops=32,c)
# Options for the bytecode loop of the fork. Each instruction has its own dispatch (by default gcc merges
# them), and the code is in the order of the source, in which the usual case comes first. Only values that
# all instructions use are kept in registers from one instruction to the next (about 1% fewer instructions).
# The code of an instruction is not rescheduled after register allocation; otherwise loops of three or four
# instructions were up to 17% slower.
LOOP := $(if $(filter fork install,$(V)),$(call known,-fno-crossjumping \
  -freorder-blocks-algorithm=simple -fno-guess-branch-probability -fno-gcse \
  -fira-region=one -fno-schedule-insns2,c))
# `make test` sets STRICT to -Werror. Users' builds do not have it, because another compiler may have other
# warnings.
STRICT ?=
# LUA_CORE: all files of lua/ are parts of the core. (Upstream's files define it themselves.)
LUAFLAGS = -std=gnu99 -Wall -Wextra $(STRICT) $(OPT_$(V)) $(PLACE) $(EXTRA) -DLUA_COMPAT_5_3 \
  $(if $(FORKED),-DLUA_CORE=) -DLUA_USE_LINUX $(if $(READLINE),-DLUA_USE_READLINE) -I$(SRC)/src $(patsubst %/,-iquote%,$(SEES))
LINKFLAGS := $(filter -fsanitize%,$(OPT_$(V))) $(LDEXTRA)
LIBS := -lm -ldl -lpthread
READLINE ?= -lreadline
OBJCOPY ?= objcopy

# The names of upstream's source files, and those of the fork, which are all files in its folders.
FORKED := $(filter-out plain,$(V))
CORE = $(filter-out $(if $(FORKED),lmem lgc),lapi lcode lctype ldebug ldo ldump lfunc lgc \
  llex lmem lobject lopcodes lparser lstate lstring ltable ltm lundump lvm lzio)
LIB := lauxlib lbaselib lcorolib ldblib liolib lmathlib loadlib loslib lstrlib \
  ltablib lutf8lib linit
INLINED = $(if $(FORKED),$(filter-out lua/patches/,lua/ $(wildcard lua/*/ lua/gc/*/)))
OURS = $(sort $(wildcard $(INLINED:%=%*.c)))
HEADERS = $(wildcard $(INLINED:%=%*.h))
PATCHES = $(if $(FORKED),$(sort $(wildcard lua/patches/*.patch)))
CORE_O = $(CORE:%=$(B)/$(1)/%.o) $(OURS:lua/%.c=$(B)/$(1)/%.o)

ifdef FORKED
include lualib/build.mk
endif

all: $(P)/bin/lua $(P)/bin/luac $(P)/lib/liblua.a $(P)/lib/liblua5.4.so.0 $(P)/lib/pkgconfig/lua5.4.pc

# STAMP makes a rule for a file that contains the value of a variable in the last build. A target that
# depends on the variable depends on this file.
define STAMP
$(B)/$(1): always
	@mkdir -p $(B)
	@echo '$(2)' | cmp -s - $$@ || echo '$(2)' >$$@
endef
$(eval $(call STAMP,root,$(ROOT)))
$(eval $(call STAMP,series,$(PATCHES)))
$(eval $(call STAMP,extra,$(CC) $(EXTRA) $(LDEXTRA)))

# The sources are unpacked again when the tarball or a patch was changed, added or removed. The hash of the
# tarball is verified each time: a tarball that is newer than lua/upstream can be another release, from a
# cache or another tree, and plain would be built from it without a message.
$(B)/prepared: $(TARBALL) $(PATCHES) $(B)/series lua/upstream lua/prepare
	@. lua/upstream && echo "$$sha256  $(TARBALL)" | sha256sum -c --status || \
	  lua/fetch $(TARBALL)
	@lua/prepare $(TARBALL) $(SRC) $(PATCHES)
	@rm -rf $(B)/obj $(B)/pic && mkdir -p $(B) && touch $@

# The objects for programs (obj) and for the shared library (pic). They are compiled from the fork's file if
# there is one, otherwise from upstream's.
define OBJECTS
$(B)/$(1)/%.o: lua/%.c $(B)/prepared $(B)/extra $(HEADERS) lua/build.mk
	@mkdir -p $$(@D)
	$(CC) $$(LUAFLAGS) $(2) -c -o $$@ $$<
$(B)/$(1)/%.o: $(B)/prepared $(B)/extra $(HEADERS) lua/build.mk
	@mkdir -p $$(@D)
	$(CC) $$(LUAFLAGS) $(2) -c -o $$@ $(SRC)/src/$$*.c
$(B)/$(1)/loadlib.o: LUAFLAGS += $$(PATHS)
$(B)/$(1)/home.o: LUAFLAGS += -DLUAN_HOME='"$(ROOT)"'
$(B)/$(1)/home.o: $(B)/root
$(B)/$(1)/lvm.o: LUAFLAGS += $$(LOOP)
$(B)/$(1)/lstrlib.o: LUAFLAGS += $$(BYTES)
$(B)/$(1)/loadlib.o: $(B)/root
# The code of the core is moved to a separate section. The linker defines symbols for the bounds of this
# section (luaN_code of seam.h).
$(B)/$(1)/core.o: $(call CORE_O,$(1))
	$(CC) -nostdlib -r -o $$@ $$^
	$(OBJCOPY) --rename-section .text=luacore --rename-section .text.unlikely=luacore \
	  --rename-section .text.hot=luacore $$@
endef
$(eval $(call OBJECTS,obj,))
$(eval $(call OBJECTS,pic,-fPIC))

# SEES has the folders in which a file finds the fork's headers. For a file of a folder of lua/gc, these are
# the folder itself and those before it in LAYERS.
LAYERS := memory alloc pace mark remset sweep collect inspect
SEES = $(INLINED)
below = $(if $(filter-out $(1),$(firstword $(2))),$(firstword $(2)) $(call below,$(1),$(wordlist 2,99,$(2))))
layers = lua/ lua/gc/ $(patsubst %,lua/gc/%/,$(call below,$(1),$(LAYERS)) $(1))
define LAYER
$(B)/obj/gc/$(1)/%.o $(B)/pic/gc/$(1)/%.o: SEES = $(call layers,$(1))
endef
$(foreach f,$(LAYERS),$(eval $(call LAYER,$(f))))

$(P)/lib/liblua.a: $(B)/obj/core.o $(LIB:%=$(B)/obj/%.o)
	@mkdir -p $(@D) && rm -f $@
	$(AR) rcs $@ $^

$(P)/bin/lua: $(B)/obj/lua.o $(P)/lib/liblua.a
	@mkdir -p $(@D)
	$(CC) $(LINKFLAGS) -Wl,-E -o $@ $< -Wl,--whole-archive $(P)/lib/liblua.a -Wl,--no-whole-archive $(LIBS) $(READLINE)

$(P)/bin/luac: $(B)/obj/luac.o $(P)/lib/liblua.a
	@mkdir -p $(@D)
	$(CC) $(LINKFLAGS) -o $@ $^ $(LIBS)

# The soname and the symbol version are Debian's, so that programs linked to Debian's library run on the
# fork's library without a warning from the loader.
$(B)/exports: lua/build.mk
	@mkdir -p $(@D)
	@echo 'LUA_5.4 { global: lua_*; luaL_*; luaopen_*; luaN_*; local: *; };' >$@

$(P)/lib/liblua5.4.so.0: $(B)/pic/core.o $(LIB:%=$(B)/pic/%.o) $(B)/exports
	@mkdir -p $(@D)
	$(CC) $(LINKFLAGS) -shared -Wl,-soname,liblua5.4.so.0 -Wl,--version-script=$(B)/exports -o $@ $(filter %.o,$^) $(LIBS)
	@ln -sf liblua5.4.so.0 $(@D)/liblua5.4.so

$(P)/lib/pkgconfig/lua5.4.pc: $(B)/prepared $(B)/root lua/build.mk lua/seam.h asamp/module/asamp.h VERSION
	@mkdir -p $(@D) $(P)/include/lua5.4
	@cp $(SRC)/src/lua.h $(SRC)/src/luaconf.h $(SRC)/src/lualib.h $(SRC)/src/lauxlib.h $(SRC)/src/lua.hpp $(if $(OURS),lua/seam.h) $(P)/include/lua5.4/
	$(if $(OURS),@sed '/^#define ASAMP_VERSION/a #define ASAMP_RELEASE	"'$$(cat VERSION)'"	/* of Asamp */' \
	  asamp/module/asamp.h >$(P)/include/lua5.4/asamp.h)
	@. lua/upstream; printf '%s\n' 'prefix=$(ROOT)' 'libdir=$${prefix}/lib' \
	  'includedir=$${prefix}/include/lua5.4' 'INSTALL_LMOD=$${prefix}/share/lua/5.4' \
	  'INSTALL_CMOD=$${prefix}/lib/lua/5.4' '' 'Name: Lua' \
	  'Description: Lua 5.4 with a sampled nursery' "Version: $$version" \
	  'Libs: -L"$${libdir}" -llua5.4 -lm -ldl' 'Cflags: -I"$${includedir}"' >$@

$(TARBALL): lua/upstream
	@lua/fetch $@ && touch $@

# The target 'compile' prints the command that compiles a file of this variant, without folders and without
# the library that only the prompt needs.
compile:
	@echo '$(CC) $(filter-out -I% -iquote% -DLUA_USE_READLINE,$(LUAFLAGS))'

# The target 'layer', for a spec, prints the options by which files of FOLDER, a folder of lua/gc, find
# headers.
layer:
	@echo '-I$(SRC)/src $(patsubst %/,-iquote%,$(call layers,$(FOLDER)))'

.PHONY: all always compile layer
.DELETE_ON_ERROR:
