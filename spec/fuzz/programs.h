/* SPDX-License-Identifier: MIT */
/* The programs that failing.c runs. The list, defined in programs.c, ends with NULLs. */
#ifndef fuzz_programs_h
#define fuzz_programs_h

typedef struct Program { const char *name, *text; } Program;

extern const Program programs[];

#endif
