#include "harness/files/folded.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LEAST_COLUMNS = 60 };

size_t pbd_output_columns(void) {
    const char *given = getenv("COLUMNS");
    struct winsize size = {0};
    const long columns = given                                          ? strtol(given, NULL, 10)
                         : ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col
                                                                        : 0;
    return columns <= 0 ? 0 : columns < LEAST_COLUMNS ? LEAST_COLUMNS : (size_t)columns;
}

size_t pbd_letters(const char *text, size_t bytes) {
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

void pbd_print_folded(const char *text, size_t used, size_t indent, size_t columns) {
    for (bool first = true; *text; first = false) {
        const size_t length = strcspn(text, " "), wide = pbd_letters(text, length);
        if (!first && columns > 0 && used + 1 + wide > columns) {
            printf("\n%*s", (int)indent, "");
            used = indent;
        } else if (!first) {
            putchar(' ');
            used++;
        }
        printf("%.*s", (int)length, text);
        used += wide;
        text += length;
        text += *text == ' ';
    }
    putchar('\n');
}

void pbd_print_line(size_t indent, const char *format, ...) {
    char *text = NULL;
    va_list list;
    va_start(list, format);
    const int length = vasprintf(&text, format, list);
    va_end(list);
    printf("%*s", (int)indent, "");
    pbd_print_folded(length >= 0 ? text : "(no memory)", indent, indent + 2, pbd_output_columns());
    if (length >= 0) free(text);
}
