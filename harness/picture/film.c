#include "harness/picture/film.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/exec/arena.h"
#include "harness/files/gnuplot.h"
#include "harness/process/child.h"
#include "harness/process/interrupt.h"
#include "harness/process/progress.h"

enum { RATE = 25, HEIGHT = 720 };
/* pixels: of each side, by the number of sides */
static const int widths[FILM_MOST_SIDES + 1] = {0, 1280, 960, 640, 480};

static const char *ending_of(const char *path) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? dot : "";
}

static bool has_ffmpeg(void) {
    static const char *const ask[] = {"ffmpeg", "-version", NULL};
    pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
    return pbd_child_run(ask, NULL, -1, &child).code == PBD_OK && child.code == 0;
}

pbd_status pbd_film_check(const char *path) {
    const char *ending = ending_of(path);
    if (strcmp(ending, ".mp4") != 0 && strcmp(ending, ".webm") != 0 && strcmp(ending, ".gif") != 0)
        return pbd_error(PBD_BAD_INPUT, "a film '%.200s' must end in .mp4, .webm or .gif", path);
    FILE *file = fopen(path, "ab");
    if (!file) return pbd_error(PBD_BAD_INPUT, "cannot write the film '%.200s': %s", path, strerror(errno));
    const bool empty = ftell(file) == 0;
    fclose(file);
    if (empty) remove(path);
    if (has_ffmpeg()) return pbd_ok();
    return pbd_error(PBD_NOT_SUPPORTED, "a film needs the program ffmpeg: install the package ffmpeg");
}

static double interval_of(const pbd_film_plan *plan) { return 1 / (RATE * (plan->slow > 0 ? plan->slow : 1)); }

pbd_spool_plan pbd_film_spooling(const pbd_film_plan *plan, int file) {
    return (pbd_spool_plan){.file = file, .interval = interval_of(plan), .fields = pbd_take_fields(plan->album.colour)};
}

/* ---- Captions and legend ----------------------------------------------------------------------------------------- */

enum { CAPTION = 40, LEGEND = 60 /* pixels */ };

typedef struct sides {
    const pbd_film_plan *plan;
    pbd_take take[FILM_MOST_SIDES];
    size_t count;
    int width;       /* of each, pixels */
    pbd_image strip; /* captions and legend below them; height 0: none */
} sides;

static void close_sides(sides *s) {
    for (size_t i = 0; i < s->count; i++) pbd_take_close(&s->take[i]);
    pbd_image_free(&s->strip);
}

static int strip_height(const sides *s) {
    bool captions = false;
    for (size_t i = 0; i < s->count; i++) captions |= s->take[i].of.caption != NULL;
    return (captions ? CAPTION : 0) + (pbd_colour_has_scale(s->take[0].album.colour) ? LEGEND : 0);
}

static pbd_status list_captions(const sides *s, const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) return pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
    for (size_t i = 0; i < s->count; i++)
        fprintf(file, "%zu\t%s\n", i, s->take[i].of.caption ? s->take[i].of.caption : "");
    const bool bad = ferror(file) != 0;
    if (fclose(file) == 0 && !bad) return pbd_ok();
    return pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
}

/* Drawn once, by gnuplot, so that the font is that of figures. Its files are put beside the film and removed. */
static pbd_status draw_strip(sides *s) {
    const pbd_album *a = &s->take[0].album;
    char list[4200], target[4200], width[20], height[20], count[20], least[40], scale[40], palette[400];
    char *output PBD_CLEANUP(pbd_free_memory) = NULL;
    if (strip_height(s) == 0) return pbd_ok();
    snprintf(list, sizeof list, "%s.captions.tsv", s->plan->path);
    snprintf(target, sizeof target, "%s.captions.png", s->plan->path);
    snprintf(width, sizeof width, "%d", s->width * (int)s->count);
    snprintf(height, sizeof height, "%d", strip_height(s));
    snprintf(count, sizeof count, "%zu", s->count);
    snprintf(least, sizeof least, "%.6e", a->scale_low); /* gnuplot reads 1e-9 as 1 */
    snprintf(scale, sizeof scale, "%.6e", a->scale_high);
    pbd_album_spell_palette(palette, sizeof palette);
    const pbd_gnuplot_variable variable[] = {
        {"list", list},
        {"count", count},
        {"width", width},
        {"height", height},
        {"least", least},
        {"scale", scale},
        {"colours", palette},
        {"target", target},
        {"label", pbd_colour_has_scale(a->colour) ? pbd_colour_label(a->colour) : ""}};
    pbd_status status = list_captions(s, list);
    if (status.code == PBD_OK) status = pbd_gnuplot("film.gp", variable, sizeof variable / sizeof *variable, &output);
    if (status.code == PBD_BAD_INPUT)
        status = pbd_error(PBD_FAILED, "%.150s: %.200s", status.text, output ? output : "");
    if (status.code == PBD_OK) status = pbd_png_read(target, &s->strip);
    remove(list);
    remove(target);
    return status;
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

static bool send_image(int socket, const pbd_image *image) {
    const unsigned char *at = image->pixel, *end = at + 3 * (size_t)image->width * (size_t)image->height;
    while (at < end) {
        const ssize_t sent = send(socket, at, (size_t)(end - at), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR && !pbd_interrupted()) continue;
        if (sent <= 0) return false;
        at += sent;
    }
    return true;
}

/* Copies the pictures side by side into the frame, with the strip below. */
static void join_frame(const sides *s, pbd_image *frame) {
    const size_t part = 3 * (size_t)s->width, row = part * s->count;
    const int height = s->take[0].image.height;
    for (int y = 0; y < height; y++)
        for (size_t i = 0; i < s->count; i++)
            memcpy(frame->pixel + row * (size_t)y + part * i, s->take[i].image.pixel + part * (size_t)y, part);
    if (s->strip.pixel) memcpy(frame->pixel + row * (size_t)height, s->strip.pixel, row * (size_t)s->strip.height);
}

static double end_of(const sides *s) {
    double end = 0;
    for (size_t i = 0; i < s->count; i++) {
        pbd_spool *spool = s->take[i].of.spool;
        end = fmax(end, pbd_spool_time(spool, pbd_spool_states(spool) - 1));
    }
    return end;
}

/* Each frame shows the last states at or before its time. If ffmpeg stops reading, `shoot` reports why. */
static pbd_status draw_frames(sides *s, pbd_image *frame, int socket) {
    const double interval = interval_of(s->plan);
    const size_t frames = (size_t)floor(end_of(s) / interval + 1e-6) + 1;
    pbd_progress progress;
    pbd_status status = pbd_ok();
    pbd_progress_begin(&progress, s->plan->quiet);
    for (size_t k = 0; k < frames && status.code == PBD_OK; k++) {
        for (size_t i = 0; i < s->count && status.code == PBD_OK; i++)
            status = pbd_take_draw(&s->take[i], ((double)k + 1e-6) * interval);
        if (status.code == PBD_OK) join_frame(s, frame);
        if (status.code == PBD_OK && !send_image(socket, frame)) break;
        pbd_progress_show(&progress, k + 1, frames, true, "frames of the film");
    }
    pbd_progress_end(&progress);
    return status;
}

/* The arguments of ffmpeg: raw pictures from standard input, and a codec that players and browsers support. */
static void spell(const char *path, const char *size, const char *word[40]) {
    static const char *const input[] = {"ffmpeg",   "-loglevel",     "error", "-y", "-f",
                                        "rawvideo", "-pixel_format", "rgb24", NULL};
    static const char *const mp4[] = {"-c:v",    "libx264",   "-crf",       "18", "-pix_fmt",
                                      "yuv420p", "-movflags", "+faststart", NULL};
    static const char *const webm[] = {"-c:v", "libvpx-vp9", "-crf", "28", "-b:v", "0", "-pix_fmt", "yuv420p", NULL};
    static const char *const gif[] = {"-vf", "split[a][b];[a]palettegen[p];[b][p]paletteuse", NULL};
    const char *ending = ending_of(path);
    const char *const *codec = strcmp(ending, ".mp4") == 0 ? mp4 : strcmp(ending, ".webm") == 0 ? webm : gif;
    size_t n = 0;
    for (size_t i = 0; input[i]; i++) word[n++] = input[i];
    for (size_t i = 0; i < 6; i++)
        word[n++] = (const char *const[]){"-video_size", size, "-framerate", "25", "-i", "-"}[i];
    for (size_t i = 0; codec[i]; i++) word[n++] = codec[i];
    word[n++] = path;
    word[n] = NULL;
}

static pbd_status shoot(sides *s) {
    const char *word[40];
    char size[40], said[200];
    const pbd_child_place place = {.core = -1, .talk = true};
    pbd_child_process process;
    pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
    pbd_image frame PBD_CLEANUP(pbd_image_free) = {.width = s->width * (int)s->count, .height = HEIGHT};
    char file[4100]; /* so that a name with a leading dash is not an option */
    PBD_TRY_NEW(frame.pixel, 3 * (size_t)frame.width * (size_t)frame.height);
    snprintf(file, sizeof file, "%s%s", *s->plan->path == '-' ? "./" : "", s->plan->path);
    snprintf(size, sizeof size, "%dx%d", frame.width, frame.height);
    spell(file, size, word);
    PBD_TRY(pbd_child_start(word, &place, &process));
    pbd_status status = draw_frames(s, &frame, process.talk);
    shutdown(process.talk, SHUT_WR);
    const pbd_status ended = pbd_child_finish(&process, &child);
    PBD_TRY(status);
    PBD_TRY(ended);
    if (child.code == 0) return pbd_ok();
    pbd_last_words(child.err, said, sizeof said);
    return pbd_error(PBD_FAILED, "ffmpeg wrote no film '%.200s' (exit %d): %s", s->plan->path, child.code, said);
}

pbd_status pbd_film_draw(const pbd_film_plan *plan, const pbd_take_of *side, size_t count) {
    sides s PBD_CLEANUP(close_sides) = {.plan = plan, .width = widths[count]};
    pbd_album *album[FILM_MOST_SIDES];
    pbd_album_plan look = plan->album;
    look.width = s.width;
    for (size_t i = 0; i < count; i++) {
        pbd_take *t = &s.take[s.count++];
        PBD_TRY(pbd_take_open(&side[i], &look, t));
        PBD_TRY(pbd_take_see(t));
        album[i] = &t->album;
    }
    PBD_TRY(pbd_album_share(album, count, HEIGHT - strip_height(&s)));
    PBD_TRY(draw_strip(&s));
    return shoot(&s);
}

/* ---- Film of a run in progress ----------------------------------------------------------------------------------- */

struct pbd_film {
    pbd_film_plan plan;
    const pbd_scene *scene;
    const pbd_method *method;
    int file; /* of the spool */
    pbd_spool *spool;
    bool checked; /* whether the colour's availability was checked */
};

pbd_status pbd_film_can_move(const pbd_scene *scene) {
    if (scene->duration > 0 && !scene->solved) return pbd_ok();
    return pbd_error(
        PBD_BAD_INPUT,
        "this run is a static solve, of which there is no film: --snapshots 2 shows its start and its end");
}

pbd_status pbd_film_open(const pbd_film_plan *plan, const pbd_scene *scene, const pbd_method *method, pbd_film **out) {
    *out = NULL;
    PBD_TRY(pbd_film_can_move(scene));
    pbd_film *f = calloc(1, sizeof *f);
    if (!f) return pbd_no_memory();
    *f = (pbd_film){.plan = *plan, .scene = scene, .method = method};
    pbd_status status = pbd_spool_file(plan->path, &f->file);
    const pbd_spool_plan spooling = pbd_film_spooling(plan, f->file);
    if (status.code == PBD_OK) status = pbd_spool_begin(&spooling, scene, method, &f->spool);
    if (status.code == PBD_OK)
        *out = f;
    else
        pbd_film_close(f);
    return status;
}

void pbd_film_close(pbd_film *f) {
    if (!f) return;
    pbd_spool_close(f->spool);
    if (f->file) close(f->file);
    free(f);
}

bool pbd_film_wants(pbd_film *f, double time, long step) { return pbd_spool_wants(f->spool, time, step); }

static pbd_status check_colour(const pbd_film *f) {
    static const double some = 0; /* marks fields that exist; the values are not read */
    const pbd_body body = pbd_body_of(f->scene, f->method);
    const pbd_seen_state first = {.position = &some,
                                  .velocity = pbd_spool_has(f->spool, PBD_VELOCITIES) ? &some : NULL,
                                  .gradient = pbd_spool_has(f->spool, PBD_DEFORMATION_GRADIENTS) ? &some : NULL,
                                  .pressure = pbd_spool_has(f->spool, PBD_PRESSURES) ? &some : NULL};
    pbd_colour colour;
    return pbd_colour_choose(f->scene, &body, f->plan.album.colour, &first, &colour);
}

pbd_status pbd_film_keep(pbd_film *f, const void *state) {
    PBD_TRY(pbd_spool_keep(f->spool, state));
    if (f->checked) return pbd_ok();
    f->checked = true;
    return check_colour(f);
}

pbd_status pbd_film_write(pbd_film *f) {
    const pbd_take_of side = {f->scene, f->method, f->spool, NULL};
    return pbd_spool_states(f->spool) > 0 ? pbd_film_draw(&f->plan, &side, 1) : pbd_ok();
}
