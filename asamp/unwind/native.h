/* SPDX-License-Identifier: MIT */
/*
** Finds the name of the function at a native address, and how to leave its frame, with libdw: from
** symbol tables and unwind tables. Code without a symbol is named by its debug file (symbols.h),
** by the Lua name of a C function (registered.h), or by file and offset of its start
** ("libc.so.6+0x27200"), the same in every run.
**
**   NA1  the calls take a lock;
**   NA2  a fork waits for the running call, so that the child finds this lock and the loader's
**        free;
**   NA3  no descriptor stays open: the program may inherit or close it;
**   NA4  if an address is not found, the mappings are read again, at most once in 1 to 2 s;
**   NA5  libdw and libelf are called only on threads that have their thread-local variables
**        (threadlocals.h);
**   NA6  an address in an object that was unloaded is looked up in the object's file. For this, the
**        places of the last 1024 objects are remembered. Names are looked up about a second after
**        the sample, and a host that makes a state for each request unloads C modules earlier. If
**        several objects have had code at the address, it is taken for that of the last one.
*/
#ifndef asamp_native_h
#define asamp_native_h

#include <stddef.h>
#include <stdint.h>

/* Writes the function's name and its object file's path, truncated; "" if unknown. 'ud' is
   unused (EncoderConfig.resolve). */
void native_name (void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize);

/* The register to which a frame's size is added. */
enum NativeBase {
  NATIVE_OTHER,		/* another form, or unknown */
  NATIVE_SP,		/* the stack pointer */
  NATIVE_FP,		/* the frame pointer */
  NATIVE_OUTERMOST	/* the frame is the outermost one */
};

/* How to leave a frame: the caller's frame starts at 'base' + 'size'; 'saved' is the position
   of its saved frame pointer relative to that start, 0: still in its register. The return
   address is below the start (x86-64), or above the saved frame pointer (aarch64). */
typedef struct NativeFrame {
  enum NativeBase base;
  int32_t size;
  int16_t saved;
} NativeFrame;

/* Looks up how to leave the frame of the code at 'address'. Returns a number that increases
   whenever the mappings were read again. */
unsigned native_frame (uint64_t address, NativeFrame *f);

#endif
