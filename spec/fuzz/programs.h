/* SPDX-License-Identifier: MIT */
/*
** The programs that failing.c runs: the list, defined in programs.c, ends with NULLs. It
** owns no state.
*/
#ifndef fuzz_programs_h
#define fuzz_programs_h

typedef struct Program { const char *name, *text; } Program;

extern const Program programs[];

#endif
