/* pbdbench VERB ...: finds the verb and calls it. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/environment.h"
#include "harness/process/spinning.h"
#include "harness/verbs/cli.h"

enum { MOST_VERBS = 64 };

static int print_help(FILE *out) {
    fputs(
        "pbdbench: validates and times position-based and particle-based deformable solids\n"
        "\n"
        "usage: pbdbench VERB "
        "[options]\n\n",
        out);
    for (size_t i = 0; pbd_verbs[i]; i++) fprintf(out, "  %-10s %s\n", pbd_verbs[i]->name, pbd_verbs[i]->summary);
    fputs(
        "\n`pbdbench VERB --help` says more. `./pbdbench test` builds and runs every test.\n"
        "Exit codes: 0 success, 1 regression, 2 usage or bad input, 3 a validation fails or a verdict changed,\n"
        "4 inconclusive, 5 a run failed, diverged or is unphysical, 130 interrupted.\n",
        out);
    return 0;
}

/* A file opened later must not take the number of a standard stream that was closed: closed output is a full disk. */
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

static int run_verb(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return PBD_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) return print_help(stdout);
    if (strcmp(word, "--version") == 0) {
        const pbd_build *build = pbd_this_build();
        printf("pbdbench %s (%.12s%s)\n", build->version, build->git_sha, build->dirty ? ", with changes" : "");
        return PBD_EXIT_OK;
    }
    const char *names[MOST_VERBS];
    size_t count = 0;
    for (size_t i = 0; pbd_verbs[i] && count < MOST_VERBS; i++) {
        names[count++] = pbd_verbs[i]->name;
        if (strcmp(word, pbd_verbs[i]->name) == 0) return pbd_verbs[i]->main(argc - 1, argv + 1);
    }
    return pbd_complain(pbd_unknown("verb", word, names, count, "pbdbench --help"));
}

int main(int argc, char **argv) {
    pbd_limit_spinning(argv);
    hold_standard_streams();
    return close_output(run_verb(argc, argv));
}
