/* SPDX-License-Identifier: MIT */
/*
** Finds, for a native address, the name of the function and how to leave the function's frame. Uses
** libdw, which reads symbol tables and unwind tables. The name of a function without symbol comes
** from the debug file (symbols.h), from the Lua name of a C function (registered.h), or from file
** and offset ("libc.so.6+0x27200"), which are the same in every run.
**
**   NA1  the calls take a lock;
**   NA2  a fork waits for the running call, so that the child finds this lock and the loader's
**        free;
**   NA3  no descriptor stays open: the program may inherit or close it;
**   NA4  if an address is not found, the list of object files in memory is read again, unless it
**        was read in the last 1 to 2 s;
**   NA5  libdw and libelf are called only on threads that have their thread-local variables
**        (threadlocals.h);
**   NA6  an address in an unloaded object is looked up in the object's file, for the last 1024
**        objects: names are looked up about a second after the sample, and a host that makes a
**        state for each request unloads C modules earlier. If several objects had code at the
**        address, the last one is used.
*/
#ifndef asamp_native_h
#define asamp_native_h

#include <stddef.h>
#include <stdint.h>

/* Writes to 'symbol' the name of the function at 'address', to 'file' the path of its object file;
   "" if unknown. Truncates both. 'ud' is unused: native_name is an EncoderConfig.resolve. */
void native_name (void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize);

/* The register to which a frame's size is added. */
enum NativeBase {
  NATIVE_OTHER,		/* no register: the frame is unknown, or does not have the form of
                           NativeFrame */
  NATIVE_SP,		/* the stack pointer */
  NATIVE_FP,		/* the frame pointer */
  NATIVE_OUTERMOST	/* the frame is the outermost one */
};

/* How to leave a frame. The caller's frame starts at S = register 'base' + 'size'. The caller's
   frame pointer is saved at S + 'saved'; 'saved' 0: it is still in its register. The return address
   is in the word below S (x86-64) or above the saved frame pointer (aarch64). */
typedef struct NativeFrame {
  enum NativeBase base;
  int32_t size;
  int16_t saved;
} NativeFrame;

/* Looks up how to leave the frame of the function at 'address'. Returns how many times the list of
   object files in memory has been read. */
unsigned native_frame (uint64_t address, NativeFrame *f);

#endif
