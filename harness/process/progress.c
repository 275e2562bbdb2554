#include "harness/process/progress.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness/exec/clock.h"

bool pbd_is_terminal(FILE *stream) { return isatty(fileno(stream)) && !getenv("NO_COLOR"); }

void pbd_progress_begin(pbd_progress *progress, bool quiet) {
    *progress = (pbd_progress){.on = !quiet && isatty(STDERR_FILENO), .started = pbd_wall_seconds()};
}

void pbd_progress_show(pbd_progress *progress, size_t done, size_t total, bool made, const char *label) {
    progress->fresh += made;
    if (!progress->on) return;
    char eta[40] = "";
    if (progress->fresh > 0 && done < total) {
        double each = (pbd_wall_seconds() - progress->started) / (double)progress->fresh;
        double left = each * (double)(total - done);
        if (left < 90)
            snprintf(eta, sizeof eta, "  ETA %.0f s", left);
        else
            snprintf(eta, sizeof eta, "  ETA %.0f min", left / 60);
    }
    enum { WIDTH = 20 };
    char bar[WIDTH + 1];
    size_t full = total ? WIDTH * done / total : WIDTH;
    for (size_t i = 0; i < WIDTH; i++) bar[i] = i < full ? '#' : '.';
    bar[WIDTH] = '\0';
    char line[120];
    struct winsize size = {0};
    const int wide = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    const int used = snprintf(line, sizeof line, "[%s] %zu/%zu%s  ", bar, done, total, eta);
    fprintf(stderr, "\r\033[K%s%.*s", line, wide - 1 > used ? wide - 1 - used : 0, label); /* a full line would wrap */
    fflush(stderr);
}

void pbd_progress_end(pbd_progress *progress) {
    if (progress->on) fputs("\r\033[K", stderr);
    progress->on = false;
}
