/* SPDX-License-Identifier: MIT */
/*
** Names of native addresses, static functions too, from the symbol tables of
** the process's own object files (libdw of elfutils). Never asks a debuginfo
** server. Rules:
**   NA1  one thread of the process at a time: the calls lock;
**   NA2  a fork waits for the call that is under way, so that its child finds
**       the lock free and what it guards whole; and the loader's own lock free,
**       which the loader does not see to;
**   NA3  no descriptor stays open after a call: programs that the process runs
**       would inherit it, and a program that closes descriptors it does not
**       know would have it closed again when the number is its own.
*/
#ifndef asamp_native_h
#define asamp_native_h

#include <stddef.h>
#include <stdint.h>

/*
** Writes the symbol around 'address' and the path of its object file, both
** NUL-terminated and cut to their sizes; "" for what is not known. 'ud' is not
** used (the signature is that of ProfileConfig.resolve).
*/
void native_name (void *ud, uint64_t address, char *symbol, size_t symbolsize,
                  char *file, size_t filesize);

#endif
