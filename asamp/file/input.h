/* SPDX-License-Identifier: MIT */
/* Opens files that commands read, which may be named pipes. */
#ifndef asamp_input_h
#define asamp_input_h

/* Opens a file for reading. Waits until a pipe has data or its writer has closed it: after a
   second, prints a message, because open(2) would wait without one. Returns -1 with errno on
   failure. */
int input_open (const char *path);

#endif
