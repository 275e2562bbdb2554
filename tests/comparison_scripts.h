/* Stand-ins for the two programs of a comparison: scripts a.sh and b.sh in the workplace, which print what a test
 * prescribes. */
#ifndef PBD_TEST_COMPARISON_SCRIPTS_H
#define PBD_TEST_COMPARISON_SCRIPTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/compare/pairing.h"
#include "program.h"

#define UNUSED __attribute__((unused))

/* ---- A program that says what it is told ------------------------------------------------------------------------- */

/* a.sh (b.sh likewise): call n prints line n of a.says. Each call is logged in `calls`, with the cores it may use. */
static const char script[] =
    "#!/bin/sh\n"
    "cd \"${0%/*}\"; me=${0##*/}; me=${me%.sh}\n"
    "n=0; [ -f $me.count ] && read n <$me.count\n"
    "n=$((n + 1)); echo $n >$me.count\n"
    "i=0; while [ $i -lt $n ] && IFS= read -r line; do i=$((i + 1)); done <$me.says\n"
    "while read -r key value; do [ \"$key\" != Cpus_allowed_list: ] || cores=$value; done </proc/self/status\n"
    "echo \"$me $cores $*\" >>calls\n"
    "case \"$line\" in\n"
    "CRASH) kill -SEGV $$ ;;\n"
    "REFUSE) echo 'pbdbench: E=-1 must be above 0' >&2; exit 2 ;;\n"
    "OLD) printf \"pbdbench: unrecognized option '--time'\\npbdbench: see ...\\n\" >&2; exit 2 ;;\n"
    "SILENT) exit 0 ;;\n"
    "INTERRUPT) kill -INT $PPID; exit 130 ;;\n"
    "*'\"diverged\"'*) echo \"$line\"; exit 5 ;;\n"
    "*) echo \"$line\" ;;\n"
    "esac\n";

/* The fields of a run's output that differ between tests. */
typedef struct saying {
    const char *cell, *precision, *state;
    double error;
    long steps, launches;
    int threads;
    double instructions;       /* of a solve; 0: not counted */
    const char *method, *kind; /* of tip_error */
} saying;

static const saying plain = {"cell", "f64", "ok", 0.25, 12, 100, 1, 0, "fake", "error"};

UNUSED static void say(FILE *out, const saying *s, double cpu, double wall) {
    char instructions[120] = "";
    if (s->instructions > 0)
        snprintf(instructions, sizeof instructions,
                 "\"solve_instructions\":{\"value\":%.17e,\"unit\":\"1\",\"direction\":\"lower\",\"kind\":\"cost\"},",
                 s->instructions);
    fprintf(
        out,
        "{\"run_id\":\"\",\"cell_id\":\"%s\",\"method\":\"%s\",\"backend\":\"cpu\",\"precision\":\"%s\",\"threads\":%d,"
        "\"state\":\"%s\",\"says\":\"\",\"metrics\":{"
        "\"tip_error\":{\"value\":%.17e,\"unit\":\"1\",\"direction\":\"lower\",\"kind\":\"%s\"},"
        "\"tip\":{\"value\":2.5,\"unit\":\"m\",\"direction\":\"neutral\"},"
        "\"steps\":{\"value\":%ld,\"unit\":\"1\",\"direction\":\"neutral\"},"
        "\"kernel_launches\":{\"value\":%ld,\"unit\":\"1\",\"direction\":\"neutral\"},"
        "%s\"solve_cpu\":{\"value\":%.17e,\"unit\":\"s\",\"direction\":\"lower\"},"
        "\"solve_wall\":{\"value\":%.17e,\"unit\":\"s\",\"direction\":\"lower\"}},\"timing\":{}}\n",
        s->cell, s->method, s->precision, s->threads, s->state, s->error, s->kind, s->steps, s->launches, instructions,
        cpu, wall);
}

UNUSED static FILE *open_file(const char *name, const char *mode) {
    FILE *file = fopen(in_workplace(name), mode);
    if (!file) fail_msg("%s: %s", name, strerror(errno));
    return file;
}

UNUSED static void write_file(const char *name, const char *text) {
    FILE *file = open_file(name, "w");
    fputs(text, file);
    fclose(file);
}

UNUSED static int begin_anew(void **state) {
    (void)state;
    static const char *const names[] = {"a.count", "b.count", "calls"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(in_workplace(names[i]));
    for (int i = 0; i < 2; i++) {
        write_file(i ? "b.sh" : "a.sh", script);
        if (chmod(in_workplace(i ? "b.sh" : "a.sh"), 0755) != 0) return -1;
        write_file(i ? "b.says" : "a.says", "");
    }
    return 0;
}

/* CPU times (ms) of 40 pairs of processes of the same cell, measured on a shared machine. */
UNUSED static const double recorded[80] = {
    19.564, 19.718, 19.470, 19.301, 19.679, 19.496, 19.729, 19.432, 19.321, 19.540, 19.803, 20.212, 19.306, 19.536,
    19.761, 19.466, 19.214, 19.155, 18.982, 19.339, 18.985, 19.193, 19.124, 19.162, 19.349, 19.294, 19.243, 19.303,
    19.866, 19.647, 19.511, 19.517, 19.536, 19.523, 19.637, 21.297, 19.663, 19.489, 19.542, 19.606, 19.475, 19.489,
    19.661, 19.524, 19.510, 19.609, 19.436, 19.572, 19.688, 19.765, 19.456, 19.552, 20.330, 19.366, 19.463, 19.094,
    19.122, 19.046, 19.050, 19.180, 19.089, 19.156, 19.073, 19.163, 19.554, 19.518, 20.663, 20.070, 22.827, 19.765,
    19.787, 19.337, 19.733, 19.789, 19.583, 20.040, 19.570, 19.594, 19.674, 19.362};

/* The two processes of A in a pair, of which one is the control: both print the same. */
UNUSED static void say_twice(FILE *of_a, const saying *a, double cpu, double wall) {
    say(of_a, a, cpu, wall);
    say(of_a, a, cpu, wall);
}

/* Both arms print `pairs` recorded times; those of B are multiplied by `factor`, which keeps their relative spread. */
UNUSED static void say_times(const saying *a, const saying *b, size_t pairs, double factor) {
    FILE *of_a = open_file("a.says", "w"), *of_b = open_file("b.says", "w");
    for (size_t i = 0; i < pairs; i++) {
        say_twice(of_a, a, 1e-3 * recorded[2 * i], 2e-3 * recorded[2 * i]);
        say(of_b, b, 1e-3 * factor * recorded[2 * i + 1], 1e-3 * recorded[2 * i + 1]);
    }
    fclose(of_a);
    fclose(of_b);
}

/* One answer of each arm. */
UNUSED static void say_once(const char *a, const char *b) {
    write_file("a.says", a);
    write_file("b.says", b);
}

/* These tests run on busy machines. */
#define ANY_LOAD 1e6
#define ANY_LOAD_TEXT "1000000"

UNUSED static size_t calls(void) {
    FILE *file = fopen(in_workplace("calls"), "r");
    size_t lines = 0;
    for (int c; file && (c = fgetc(file)) != EOF;) lines += c == '\n';
    if (file) fclose(file);
    return lines;
}

#endif
