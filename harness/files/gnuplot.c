/* gnuplot as a child process. Its output goes through a pipe, since standard output is reserved for our own JSON. */
#include "harness/files/gnuplot.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/exec/arena.h"
#include "harness/files/paths.h"

extern char **environ;

enum { MOST_VARIABLES = 16, LONGEST_OUTPUT = 64 << 10 };

/* name='value'; gnuplot takes text in single quotes literally, and two single quotes as one. */
static char *assignment(pbd_arena *a, const pbd_gnuplot_variable *variable) {
    const size_t size = strlen(variable->name) + 2 * strlen(variable->value) + 4;
    char *text = pbd_new(a, char, size);
    if (!text) return NULL;
    size_t n = (size_t)snprintf(text, size, "%s='", variable->name);
    for (const char *p = variable->value; *p; p++) {
        if (*p == '\'') text[n++] = '\'';
        text[n++] = *p;
    }
    text[n] = '\'';
    return text;
}

/* A line break would end gnuplot's statement, quotes or not. */
static pbd_status check_variable(const pbd_gnuplot_variable *variable) {
    for (const char *p = variable->value; *p; p++)
        if (iscntrl((unsigned char)*p))
            return pbd_error(PBD_BAD_INPUT, "gnuplot cannot be given a name with a control character: '%.100s'",
                             variable->value);
    return pbd_ok();
}

/* Reads everything until the child closes the pipe; drops what exceeds the limit. */
static char *drain(int descriptor) {
    char *text = malloc(LONGEST_OUTPUT + 1), chunk[4096];
    size_t used = 0;
    for (;;) {
        ssize_t n = read(descriptor, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        size_t keep = (size_t)n < LONGEST_OUTPUT - used ? (size_t)n : LONGEST_OUTPUT - used;
        if (text) memcpy(text + used, chunk, keep);
        used += keep;
    }
    if (text) text[used] = '\0';
    return text;
}

static int spawn_with_pipe(char *const *arguments, const int ends[2], pid_t *child) {
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    code = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static pbd_status run_child(char *const *arguments, const char *script, char **output) {
    int ends[2], state = 0;
    pid_t child;
    if (pipe2(ends, O_CLOEXEC) != 0) return pbd_error(PBD_FAILED, "cannot make a pipe to gnuplot: %s", strerror(errno));
    int code = spawn_with_pipe(arguments, ends, &child);
    close(ends[1]);
    if (code == 0) *output = drain(ends[0]);
    close(ends[0]);
    if (code == ENOENT || code == EACCES || code == ENOTDIR)
        return pbd_error(PBD_NOT_SUPPORTED, "gnuplot is missing, so nothing was drawn; `%s` installs it",
                         PBD_GNUPLOT_INSTALL);
    if (code != 0) return pbd_error(PBD_FAILED, "cannot start gnuplot: %s", strerror(code));
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) continue;
    if (WIFSIGNALED(state))
        return pbd_error(PBD_BAD_INPUT, "gnuplot was killed by signal %d on %s", WTERMSIG(state), script);
    if (WEXITSTATUS(state) != 0) return pbd_error(PBD_BAD_INPUT, "gnuplot fails on %s", script);
    return pbd_ok();
}

pbd_status pbd_gnuplot(const char *script, const pbd_gnuplot_variable *variable, size_t count, char **output) {
    pbd_arena a PBD_ARENA;
    /* gnuplot --default-settings -e "a='...'" ... script */
    char *words[2 * MOST_VARIABLES + 6] = {NULL};
    char program[] = "gnuplot", defaults[] = "--default-settings", option[] = "-e";
    const pbd_gnuplot_variable style = {"style", pbd_new_format(&a, "%s/plots/style.gp", pbd_root())};
    size_t n = 0;
    *output = NULL;
    if (count > MOST_VARIABLES) return pbd_error(PBD_FAILED, "too many variables for gnuplot");
    PBD_TRY(pbd_arena_check(&a));
    words[n++] = program;
    words[n++] = defaults; /* so that no ~/.gnuplot changes a figure */
    for (size_t i = 0; i <= count; i++) {
        const pbd_gnuplot_variable *v = i < count ? &variable[i] : &style;
        PBD_TRY(check_variable(v));
        words[n++] = option;
        words[n++] = assignment(&a, v);
    }
    words[n] = *script == '/' ? pbd_new_text(&a, script) : pbd_new_format(&a, "%s/plots/%s", pbd_root(), script);
    PBD_TRY(pbd_arena_check(&a));
    return run_child(words, words[n], output);
}

pbd_status pbd_gnuplot_terminal(const char *path, size_t height, char terminal[PBD_GNUPLOT_TERMINAL]) {
    const char *dot = strrchr(path, '.'), *const ending = dot ? dot : "";
    if (strcasecmp(ending, ".pdf") == 0) {
        snprintf(terminal, PBD_GNUPLOT_TERMINAL, "pdfcairo size 16cm,%.2fcm font 'DejaVu Sans,9'",
                 16.0 / 1200 * (double)height);
        return pbd_ok();
    }
    const bool png = strcasecmp(ending, ".png") == 0;
    if (!png && strcasecmp(ending, ".svg") != 0)
        return pbd_error(PBD_BAD_INPUT, "'%.100s' must end in .png, .svg or .pdf", path);
    snprintf(terminal, PBD_GNUPLOT_TERMINAL, "%s size 1200,%zu font 'DejaVu Sans,15' linewidth 1.4",
             png ? "pngcairo" : "svg", height);
    return pbd_ok();
}
