/* The man page: all verbs with their options, from the tables that --help is printed from. */
#ifndef PBD_MAN_PAGE_H
#define PBD_MAN_PAGE_H

#include "harness/verbs/cli.h"

/* Writes pbdbench(1) in the macros of man(7). */
void pbd_man_page_write(FILE *out);

#endif
