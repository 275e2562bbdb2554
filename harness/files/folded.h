/* Lines of output that fit the terminal. */
#ifndef PBD_FOLDED_H
#define PBD_FOLDED_H

#include <stddef.h>

/* Columns of standard output: $COLUMNS if set, else those of the terminal, at least 60; 0 if it is no terminal. */
size_t pbd_output_columns(void);
/* The number of characters in `bytes` bytes of UTF-8. */
size_t pbd_letters(const char *text, size_t bytes);
/* Prints a text in lines of at most `columns` (0: one line), broken between words; those after the first begin with
 * `indent` blanks. `used` columns of the first line are taken. */
void pbd_print_folded(const char *text, size_t used, size_t indent, size_t columns);
/* Prints a line after `indent` blanks, folded to the output's columns. */
__attribute__((format(printf, 2, 3))) void pbd_print_line(size_t indent, const char *format, ...);

#endif
