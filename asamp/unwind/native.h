/* SPDX-License-Identifier: MIT */
/*
** Finds the name of the function at a native address, and how to leave its stack frame, in the
** process's own object files, with libdw of elfutils. Names come from symbol tables, including
** those of static functions, and frames from unwind tables. Never queries a debuginfo server.
**
** The selected implementation of an indirect function has the function's public name (indirect.h).
** Other code without a symbol is named by its separate debug file (symbols.h), then by the Lua
** name of a registered C function (registered.h). Without either, the name is file and offset,
** such as "libc.so.6+0x27200", where the offset is the function's start in the file. So the same
** code has the same name in every run. Rules:
**
**   NA1  one thread at a time: the calls take a lock;
**   NA2  a fork waits for the running call. So the child finds the lock free, the data that it
**        protects consistent, and the loader's lock free, which the loader itself does not ensure;
**   NA3  no descriptor stays open after a call. Programs that the process starts would inherit it.
**        And if the program closed it as an unknown descriptor and reused its number, a later
**        close here would close the program's file;
**   NA4  an address may not be found because memory ran out, or because the mappings changed while
**        they were read. Therefore a call that does not find its address reads the mappings again,
**        unless they were read less than 1 to 2 s ago;
**   NA5  libdw and libelf are called only on threads that have their thread-local variables
**        (threadlocals.h).
*/
#ifndef asamp_native_h
#define asamp_native_h

#include <stddef.h>
#include <stdint.h>

/*
** Writes the name of the function that contains 'address' to 'symbol', and the path of its object
** file to 'file'. Both are NUL-terminated and truncated to their sizes. Both are "" if the address
** is in no object's code, or was not found (NA4); only the path is "" if the object has no file.
** 'ud' is unused; it is a parameter because this function is used as EncoderConfig.resolve.
*/
void native_name (void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize);

/* The base of a frame: the register to which the frame's size is added. */
enum NativeBase {
  NATIVE_OTHER,		/* the frame has another form, or is unknown */
  NATIVE_SP,		/* the stack pointer */
  NATIVE_FP,		/* the frame pointer */
  NATIVE_OUTERMOST	/* the frame is the outermost one */
};

/*
** Describes how to leave the frame of the code at an address.
**   - The caller's frame starts at the address 'base' + 'size'.
**   - 'saved' is the position of the caller's saved frame pointer, in bytes relative to that start
**     (negative); 0: it is still in its register.
**   - The return address is the word below the start on x86-64, and the word above the saved frame
**     pointer on aarch64.
*/
typedef struct NativeFrame {
  enum NativeBase base;
  int32_t size;
  int16_t saved;
} NativeFrame;

/*
** Looks up how to leave the frame of the code at 'address', on x86-64 and aarch64. Returns a number
** that increases whenever a lookup reads the mappings again: because object files were loaded, or
** because the address was not found (NA4).
*/
unsigned native_frame (uint64_t address, NativeFrame *f);

#endif
