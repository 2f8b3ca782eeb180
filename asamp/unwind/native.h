/* SPDX-License-Identifier: MIT */
/*
** What the process's own object files tell of native addresses (libdw of
** elfutils): names, of static functions too, from symbol tables, and frames from
** unwind tables. Never asks a debuginfo server. What has no symbol is called by its
** debug file (symbols.h), by the public name that led to it (indirect.h), or by file
** and place: "libc.so.6+0x27200" is where the function begins in the file. So the same
** code has the same name in every run. Rules:
**   NA1  one thread of the process at a time: the calls lock;
**   NA2  a fork waits for the call that is under way, so that its child finds
**       the lock free and what it guards whole; and the loader's own lock free,
**       which the loader does not see to;
**   NA3  no descriptor stays open after a call: programs that the process runs
**       would inherit it, and a program that closes descriptors it does not
**       know would have it closed again when the number is its own.
**   NA4  what was not found, for lack of memory or because the list of what is mapped
**        changed while it was read, is looked for again, once in a second or two;
**   NA5  libdw and libelf are called by threads that have their thread-local variables
**        (threadlocals.h).
*/
#ifndef asamp_native_h
#define asamp_native_h

#include <stddef.h>
#include <stdint.h>

/*
** Writes the name of the function around 'address' and the path of its object file,
** both NUL-terminated and cut to their sizes; "" for code of no file. 'ud' is not
** used (the signature is that of ProfileConfig.resolve).
*/
void native_name (void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize);

/* What a frame's size counts from. */
enum NativeBase {
  NATIVE_OTHER,		/* not of this kind, or not known */
  NATIVE_SP,		/* the stack pointer */
  NATIVE_FP,		/* the frame pointer */
  NATIVE_OUTERMOST	/* there is no caller */
};

/*
** A frame as code at an address has it: the caller's begins 'size' bytes above
** the base; its frame pointer was saved 'saved' bytes above that beginning, or is in
** the register (0). The return address is the word right below that beginning (x86-64),
** or right above the saved frame pointer (aarch64).
*/
typedef struct NativeFrame {
  enum NativeBase base;
  int32_t size;
  int16_t saved;
} NativeFrame;

/*
** The frame at 'address', of these two processors. Returns a number that grows with every
** lookup, of whatever, that finds object files loaded since the one before.
*/
unsigned native_frame (uint64_t address, NativeFrame *f);

#endif
