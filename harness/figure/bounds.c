#include "harness/figure/bounds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/files/numbers.h"

static const char *skip(const char *text) {
    while (*text == ' ' || *text == '\n') text++;
    return text;
}

static bool starts(const char **at, const char *word) {
    const size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0) return false;
    *at = skip(*at + length);
    return true;
}

static bool read_number(const char **at, double *out) {
    char *end;
    *out = pbd_decimal(*at, &end);
    if (end == *at || !isfinite(*out)) return false;
    *at = skip(end);
    return true;
}

static void raise_low(pbd_bounds *b, double to, bool without) {
    if (to < b->low || (to == b->low && b->without_low)) return;
    b->low = to;
    b->without_low = without;
}

static void lower_high(pbd_bounds *b, double to, bool without) {
    if (to > b->high || (to == b->high && b->without_high)) return;
    b->high = to;
    b->without_high = without;
}

static bool read_part(const char **at, pbd_bounds *b) {
    double x, end;
    if (starts(at, "<=")) return read_number(at, &x) && (lower_high(b, x, false), true);
    if (starts(at, ">=")) return read_number(at, &x) && (raise_low(b, x, false), true);
    if (starts(at, "<")) return read_number(at, &x) && (lower_high(b, x, true), true);
    if (starts(at, ">")) return read_number(at, &x) && (raise_low(b, x, true), true);
    const bool equal = starts(at, "=");
    if (!read_number(at, &x)) return false;
    end = x;
    if (!equal && !(starts(at, "to ") && read_number(at, &end))) return false;
    raise_low(b, x, false);
    lower_high(b, end, false);
    return true;
}

pbd_status pbd_bounds_parse(const char *text, pbd_bounds *out) {
    const char *at = skip(text);
    *out = (pbd_bounds){-INFINITY, INFINITY, false, false};
    do {
        if (!read_part(&at, out))
            return pbd_error(PBD_BAD_INPUT, "bounds '%.60s': expected such as '<= 0.05', '> 1', '= 3' or '0.9 to 1.1'",
                             text);
    } while (starts(&at, "and "));
    if (*at) return pbd_error(PBD_BAD_INPUT, "bounds '%.60s': unexpected '%.40s'", text, at);
    if (out->low < out->high || (out->low == out->high && !out->without_low && !out->without_high)) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "bounds '%.60s': no value meets them", text);
}

bool pbd_bounds_hold(const pbd_bounds *b, double value) {
    return (b->without_low ? value > b->low : value >= b->low) &&
           (b->without_high ? value < b->high : value <= b->high);
}

bool pbd_bounds_contain(const pbd_bounds *outer, const pbd_bounds *inner) {
    const bool low =
        outer->low < inner->low || (outer->low == inner->low && (!outer->without_low || inner->without_low));
    const bool high =
        outer->high > inner->high || (outer->high == inner->high && (!outer->without_high || inner->without_high));
    return low && high;
}
