/* SPDX-License-Identifier: MIT */
/*
** Finds, for a native address, the name of the function, and how to leave the function's frame.
** Uses libdw, which reads symbol tables and unwind tables. The name of a function without a symbol
** is taken from the debug file (symbols.h), or is the Lua name of the C function (registered.h). If
** both are missing, the name is the file name and the address in the file ("libc.so.6+0x27200"),
** which are the same in every run.
**
**   NA1  native_name and native_frame take a lock;
**   NA2  a fork waits for a running call of these functions, so that this lock and the loader's
**        lock are free in the child;
**   NA3  no descriptor stays open, because the program could close it or pass it to a child;
**   NA4  if no object file has an address, the list of object files in memory is read again, unless
**        it was read in the last 1 to 2 s;
**   NA5  libdw and libelf are called only on threads that have their thread-local variables
**        (threadlocals.h);
**   NA6  a function in an unloaded object file is named, too: its name is read from the file
**        (codefile.h). This is needed because names are looked up about a second after a sample.
*/
#ifndef asamp_native_h
#define asamp_native_h

#include <stddef.h>
#include <stdint.h>

/* Returns the id of a native address that is in memory (codefile.h). At the first address in an
   object file, reads the file, so that its functions can be named after it was unloaded. */
uint64_t native_id (const void *address);

/* Writes the name of a native function to 'symbol', and the path of its object file to 'file'; ""
   if unknown. Truncates both. 'id': result of native_id for an address in the function. 'ud' is
   unused, because this function is a callback (EncoderConfig.resolve). */
void native_name (void *ud, uint64_t id, char *symbol, size_t symbolsize,
                  char *file, size_t filesize);

/* The register to which NativeFrame.size is added. */
enum NativeBase {
  NATIVE_OTHER,		/* no register: a NativeFrame cannot describe the frame, or there is no
                           unwind table */
  NATIVE_SP,		/* the stack pointer */
  NATIVE_FP,		/* the frame pointer */
  NATIVE_OUTERMOST	/* no register: the frame is the outermost one, without a caller */
};

/* How to leave a frame. The caller's frame starts at S = register 'base' + 'size'. The caller's
   frame pointer is saved at S + 'saved'; 'saved' 0: it is still in its register. The return address
   is in the word below S (x86-64), or above the saved frame pointer (aarch64). */
typedef struct NativeFrame {
  enum NativeBase base;
  int32_t size;
  int16_t saved;
} NativeFrame;

/* Stores in *f how to leave the frame of the function at 'address'. Returns how many times the list
   of object files in memory has been read, which shows the caller whether files may have
   changed. */
unsigned native_frame (uint64_t address, NativeFrame *f);

#endif
