/* pbdbench VERB ...: finds the verb and calls it. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/environment.h"
#include "harness/process/spinning.h"
#include "harness/verbs/man_page.h"

enum { MOST_VERBS = 64 };

static int print_help(FILE *out) {
    fprintf(out, "pbdbench: %s\n\nusage: pbdbench VERB [options]\n\n", pbd_about_program);
    for (size_t i = 0; pbd_verbs[i]; i++) fprintf(out, "  %-10s %s\n", pbd_verbs[i]->name, pbd_verbs[i]->summary);
    fputs(
        "\n`pbdbench VERB --help` says more, `pbdbench help --man` is the man page of all verbs. `./pbdbench test`\n"
        "builds and runs every test. Exit codes:\n",
        out);
    for (const pbd_exit_meaning *e = pbd_exit_meanings; e->means; e++) fprintf(out, "    %-8d %s\n", e->code, e->means);
    return 0;
}

/* Opens a device on each closed standard stream, so that no file opened later takes its descriptor. Writing to a closed
 * standard output then fails as on a full disk. */
static void hold_standard_streams(void) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0) (void)open(stream == STDOUT_FILENO ? "/dev/full" : "/dev/null", O_RDWR);
}

/* Output that did not arrive must not look like success. */
static int close_output(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "pbdbench: standard output cannot be written: %s\n", strerror(errno));
    return code == PBD_EXIT_OK ? PBD_EXIT_RUN_FAILED : code;
}

static int print_version(void) {
    const pbd_build *build = pbd_this_build();
    printf("pbdbench %s (%.12s%s)\n", build->version, build->git_sha, build->dirty ? ", with changes" : "");
    return PBD_EXIT_OK;
}

static int print_man_page(void) {
    pbd_man_page_write(stdout);
    return PBD_EXIT_OK;
}

static bool is(const char *word, const char *a, const char *b) { return strcmp(word, a) == 0 || strcmp(word, b) == 0; }

static int call_verb(const char *name, int argc, char **argv) {
    const char *names[MOST_VERBS];
    size_t count = 0;
    for (size_t i = 0; pbd_verbs[i] && count < MOST_VERBS; i++) {
        names[count++] = pbd_verbs[i]->name;
        if (strcmp(name, pbd_verbs[i]->name) == 0) return pbd_verbs[i]->main(argc, argv);
    }
    return pbd_complain(pbd_unknown("verb", name, names, count, "pbdbench --help"));
}

/* help, help VERB, help --man. */
static int help(int argc, char **argv) {
    char ask[] = "--help";
    if (argc < 3) return print_help(stdout);
    if (strcmp(argv[2], "--man") == 0) return print_man_page();
    return call_verb(argv[2], 2, (char *[]){argv[2], ask, NULL});
}

static int run_verb(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return PBD_EXIT_USAGE;
    }
    if (strcmp(argv[1], "help") == 0) return help(argc, argv);
    if (is(argv[1], "--help", "-h")) return print_help(stdout);
    if (strcmp(argv[1], "--version") == 0) return print_version();
    return call_verb(argv[1], argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    pbd_limit_spinning(argv);
    hold_standard_streams();
    return close_output(run_verb(argc, argv));
}
