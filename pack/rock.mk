# SPDX-License-Identifier: MIT
# Builds the profiler's modules for an installed fork. luarocks calls it by asamp-1.0.0-1.rockspec,
# which passes the folders of the fork's headers (LUA_INCDIR) and of modules (LUADIR, LIBDIR).
V := rock
B := build/rock
P := build/rock
CC := gcc
LUA_INCDIR ?=
LUADIR ?=
LIBDIR ?=
EXTRA ?=
LDEXTRA ?=
LINKFLAGS = $(LDFLAGS)
OPT_rock := -O2

all:
include asamp/build.mk
# asamp/host.so and the modules of the command are installed with the command.
ROCK := $(filter $(P)/lib/asamp/profiler/%,$(MODULES))
all: $(ROCK)

# The folder in which the rules of modules find Lua. The sampler and the core share structures, so
# seam.h must be identical to the one that the fork was built with.
$(P)/lib/pkgconfig/lua5.4.pc: always
	@[ -r "$(LUA_INCDIR)/seam.h" ] || { echo "pack/rock.mk: Asamp's Lua is not installed in '$(LUA_INCDIR)', which" \
	  "has no seam.h; give its folder: luarocks --lua-dir=/usr/lib/asamp --lua-version=5.4 make …" >&2; exit 1; }
	@cmp -s lua/seam.h "$(LUA_INCDIR)/seam.h" || { echo "pack/rock.mk: Asamp's Lua in '$(LUA_INCDIR)' is of another" \
	  "commit (seam.h differs); build the modules of that commit, or install the Lua of this commit" >&2; exit 1; }
	@printf '#include <%s>\n' elfutils/libdwfl.h libunwind.h zlib.h | $(CC) -E -o /dev/null - || { \
	  echo "pack/rock.mk: headers are missing; on Debian: apt-get install libdw-dev libunwind-dev zlib1g-dev" >&2; \
	  exit 1; }
	@mkdir -p $(@D) $(P)/include && ln -sfn "$(LUA_INCDIR)" $(P)/include/lua5.4
	@[ -e $@ ] || touch $@

$(B)/extra $(B)/prepared:
	@mkdir -p $(@D) && touch $@

install: all
	mkdir -p "$(LUADIR)/profiler" "$(LIBDIR)/profiler"
	cp lualib/profiler.lua "$(LUADIR)/"
	cp lualib/profiler/*.lua "$(LUADIR)/profiler/"
	cp $(ROCK) "$(LIBDIR)/profiler/"

.PHONY: all always install
