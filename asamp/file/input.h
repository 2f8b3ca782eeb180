/* SPDX-License-Identifier: MIT */
/* Opens files that commands read, which may be named pipes. */
#ifndef asamp_input_h
#define asamp_input_h

/* Opens a file for reading. Returns a descriptor, or -1 with errno on failure. If the file is a
   named pipe, waits until it has data or its writer has closed it, and prints a message if that
   takes a second. */
int input_open (const char *path);

#endif
