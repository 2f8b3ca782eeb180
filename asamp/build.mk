# SPDX-License-Identifier: MIT
# The C modules of asamp/ and their rules, for lua/build.mk. The folders have an order. Only the folders
# that a folder may include are on its include path; only the folders in LUAFACES find the headers of Lua
# and of its interface for the profiler (lua/seam.h).
FOLDERS := base preload format file unwind sample encode session snapshot control read convert heap module
SEES_base :=
SEES_preload := base
SEES_format := base
SEES_file := format base
SEES_unwind := base
SEES_sample := unwind format base
SEES_encode := format base
SEES_session := encode sample unwind file format base
SEES_snapshot := sample unwind file format base
SEES_control := snapshot session encode sample unwind file format base
SEES_read := file format base
SEES_convert := read encode file format base
SEES_heap := file format base
SEES_module := heap convert read control snapshot session encode sample unwind file format base
LUAFACES := sample session snapshot control module

# The include options of the compiler for the folder $(1).
sees = $(patsubst %,-iquote asamp/%,$(1) $(SEES_$(1))) \
  $(if $(filter $(1),$(LUAFACES)),-I$(P)/include/lua5.4)

MODFLAGS = -std=gnu99 -Wall -Wextra $(STRICT) $(OPT_$(V)) $(EXTRA) -fPIC
# The module of asamp serve needs libmicrohttpd, and is built only if that library is installed.
HTTPD := $(if $(wildcard /usr/include/microhttpd.h),-lmicrohttpd)
ASAMP_C := $(filter-out asamp/preload/% $(if $(HTTPD),,asamp/module/httplib.c),$(wildcard asamp/*/*.c))
ASAMP_H := $(wildcard asamp/*/*.h)
# Profiles are compressed by ISA-L if it is installed, otherwise by zlib (asamp/file/compressor.h).
ISAL := $(if $(wildcard /usr/include/isa-l/igzip_lib.h),-lisal)

# The version of this release, for the files that report it.
RELEASE := $(shell cat VERSION)
$(B)/asamp/module/corelib.o $(B)/asamp/module/hostlib.o: MODFLAGS += -DASAMP_RELEASE='"$(RELEASE)"'
$(B)/asamp/module/corelib.o $(B)/asamp/module/hostlib.o: VERSION

define COMPILE
$(B)/asamp/$(1)/%.o: asamp/$(1)/%.c $(ASAMP_H) lua/seam.h $(B)/prepared $(B)/extra asamp/build.mk | $(P)/lib/pkgconfig/lua5.4.pc
	@mkdir -p $$(@D)
	$$(CC) $$(MODFLAGS) $$(call sees,$(1)) -c -o $$@ $$<
endef
$(foreach f,$(FOLDERS),$(eval $(call COMPILE,$(f))))

# The archive of all objects. Each module is linked with its own object and this archive.
$(B)/asamp.a: $(ASAMP_C:%.c=$(B)/%.o)
	@rm -f $@
	$(AR) rcs $@ $^

# The preloaded library that replaces malloc. It is compiled without a sanitizer, which has its own
# malloc, and without gcc's assumptions about malloc.
PRELOAD := $(P)/lib/asamp/profiler/malloc.so
$(PRELOAD): asamp/preload/malloc.c asamp/base/interval.c $(ASAMP_H) $(B)/extra asamp/build.mk
	@mkdir -p $(@D)
	$(CC) -std=gnu99 -Wall -Wextra $(STRICT) -O2 -g0 $(filter-out -fsanitize%,$(EXTRA)) -fPIC -shared -fno-builtin \
	  -fexceptions -fvisibility=hidden $(call sees,preload) $(LDEXTRA) -Wl,-z,nodelete -o $@ $(filter %.c,$^) -lm -ldl

# The rule for a module. Arguments: its path, its source file, its libraries.
define MODULE
LINKED += $(P)/lib/asamp/$(1).so
$(P)/lib/asamp/$(1).so: $(B)/asamp/module/$(2).o
$(P)/lib/asamp/$(1).so: NEEDS := $(3)
endef
LINKED :=
# The calls of malloc in the profiler's own code are redirected to functions that count them
# (asamp/base/own.h).
OWN := $(patsubst %,-Xlinker --wrap=%,malloc calloc realloc free strdup strndup asprintf)
PROFILER := $(OWN) -lunwind-generic -lunwind -ldw -lelf -lz $(ISAL) -lpthread -lrt -ldl -lm
$(eval $(call MODULE,profiler/core,corelib,$(PROFILER)))
$(eval $(call MODULE,profiler/reader,readerlib,-lz $(ISAL) -lpthread -ldl -lm))
$(eval $(call MODULE,profiler/convert,convertlib,-lz $(ISAL) -lpthread -ldl -lm))
$(eval $(call MODULE,profiler/heap,heaplib,-lz $(ISAL) -lpthread -ldl))
$(eval $(call MODULE,asamp/host,hostlib,-lpthread -ldl))
$(if $(HTTPD),$(eval $(call MODULE,asamp/http,httplib,$(HTTPD) -lpthread -ldl)))
$(LINKED): $(B)/asamp.a asamp/module/exports
	@mkdir -p $(@D)
	$(CC) $(LINKFLAGS) -shared -Wl,-z,nodelete -Wl,--version-script=asamp/module/exports \
	  -o $@ $(filter %.o,$^) $(B)/asamp.a $(NEEDS)

# For spec/asamp/loaded_spec.lua: the module profiler.core as it is with a glibc older than 2.35
# (asamp/unwind/loaded.h).
build/spec/old/core.so: asamp/unwind/loaded.c $(B)/asamp/module/corelib.o $(B)/asamp.a asamp/module/exports
	@mkdir -p $(@D)
	$(CC) $(MODFLAGS) -DLOADED_OLD $(call sees,unwind) $(LINKFLAGS) -shared -Wl,-z,nodelete \
	  -Wl,--version-script=asamp/module/exports -o $@ $(filter %.c %.o,$^) $(B)/asamp.a $(PROFILER)

MODULES = $(LINKED) $(PRELOAD)

# Two targets that print options: 'fuzzed', for spec/fuzz/build, prints the sources and libraries of a
# fuzzer of the reader and the converters; 'options', for a spec, prints the include options of the folder
# FOLDER.
FUZZED := base format file encode read convert
fuzzed:
	@echo $(patsubst %,-iquote asamp/%,$(FUZZED)) $(foreach f,$(FUZZED),$(wildcard asamp/$(f)/*.c)) -lz $(ISAL) -lm

options:
	@echo $(call sees,$(FOLDER))
.PHONY: fuzzed options
