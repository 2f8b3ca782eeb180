/* SPDX-License-Identifier: MIT */
/*
** Reads the process's own object files (with libdw of elfutils): names of native addresses,
** including static functions, from symbol tables, and frames from unwind tables. Never queries a
** debuginfo server. The selected implementation of an indirect function has the function's public
** name (indirect.h). Other code without a symbol is named by its separate debug file (symbols.h),
** by the Lua name of a registered C function (registered.h), or by file and offset:
** "libc.so.6+0x27200", where the offset is the function's start in the file. So the same code has
** the same name in every run. Rules:
**
**   NA1  one thread at a time: the calls take a lock;
**   NA2  a fork waits for the running call, so that the child finds the lock free, the data under
**        it consistent, and the loader's lock free: the loader itself does not ensure that;
**   NA3  no descriptor stays open after a call: programs that the process starts would inherit
**        it, and a program that closes unknown descriptors would cause a later close of a
**        number that it has reused;
**   NA4  an address may not be found for lack of memory, or because the mappings changed while
**        they were read; such a call reads them again if the last reading is over 1 to 2 s ago;
**   NA5  libdw and libelf are called only on threads that have their thread-local variables
**        (threadlocals.h).
*/
#ifndef asamp_native_h
#define asamp_native_h

#include <stddef.h>
#include <stdint.h>

/*
** Writes the name of the function that contains 'address', and the path of its object file, both
** NUL-terminated and truncated to the sizes; both "" if the address is in the code of no file, or
** by NA4; the path is "" if there is no file. 'ud' is unused (the signature is that of
** EncoderConfig.resolve).
*/
void native_name (void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize);

/* The register to which a frame's size is added. */
enum NativeBase {
  NATIVE_OTHER,		/* of another kind, or unknown */
  NATIVE_SP,		/* the stack pointer */
  NATIVE_FP,		/* the frame pointer */
  NATIVE_OUTERMOST	/* there is no caller */
};

/*
** The frame of the code at an address. The caller's frame starts 'size' bytes above the base;
** its frame pointer was saved 'saved' bytes above that start, or is still in the register (0).
** The return address is the word below that start (x86-64), or the word above the saved frame
** pointer (aarch64).
*/
typedef struct NativeFrame {
  enum NativeBase base;
  int32_t size;
  int16_t saved;
} NativeFrame;

/*
** Looks up the frame of the code at 'address', on x86-64 and aarch64. Returns a number that
** increases when a lookup reads the mappings: because object files were loaded since the lookup
** before, or by NA4.
*/
unsigned native_frame (uint64_t address, NativeFrame *f);

#endif
