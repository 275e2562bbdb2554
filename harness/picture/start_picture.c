#include "harness/picture/start_picture.h"

#include "harness/picture/album.h"

enum { WIDTH = 800 };

pbd_status pbd_draw_start(const pbd_scene *scene, const char *path) {
    static const pbd_method any = {.needs = PBD_NEEDS_PARTICLES};
    /* Only one kind of elements can be drawn. With cloth beside bodies, or a sampled body, particles are drawn. */
    const bool bare = (scene->tets.count > 0 && pbd_holds(scene, PBD_CLOTH)) ||
                      (scene->particles.spacing > 0 && scene->tets.count == 0);
    const double *x = scene->particles.start ? scene->particles.start : scene->particles.positions;
    pbd_album a PBD_CLEANUP(pbd_album_close) = {0};
    pbd_image image PBD_CLEANUP(pbd_image_free) = {0};
    const pbd_album_plan plan = {.colour = PBD_COLOUR_MATTER, .width = WIDTH};
    const pbd_seen_state start = {.position = x};
    PBD_TRY(pbd_album_open(scene, bare ? NULL : &any, &plan, &start, &a));
    PBD_TRY(pbd_album_see(&a, &start));
    pbd_album_look(&a, 0);
    PBD_TRY(pbd_album_draw(&a, &start, &image));
    return pbd_png_write(path, &image);
}
