/* SPDX-License-Identifier: MIT */
/*
** The programs that failing.c runs while memory requests are refused. The list is defined in
** programs.c. Both fields of its last element are NULL.
*/
#ifndef fuzz_programs_h
#define fuzz_programs_h

typedef struct Program { const char *name, *text; } Program;

extern const Program programs[];

#endif
