#include "harness/files/base64.h"

void pbd_base64_write(FILE *out, const void *bytes, size_t count) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { GROUPS = 1024 };
    const unsigned char *byte = bytes;
    char text[4 * GROUPS];
    for (size_t i = 0, used = 0; i < count; i += 3) {
        const size_t left = count - i;
        const unsigned group = (unsigned)byte[i] << 16 | (left > 1 ? (unsigned)byte[i + 1] << 8 : 0) |
                               (left > 2 ? (unsigned)byte[i + 2] : 0);
        text[used++] = digit[group >> 18];
        text[used++] = digit[group >> 12 & 63];
        text[used++] = left > 1 ? digit[group >> 6 & 63] : '=';
        text[used++] = left > 2 ? digit[group & 63] : '=';
        if (used < sizeof text && left > 3) continue;
        fwrite(text, 1, used, out);
        used = 0;
    }
}
