#include "harness/picture/sheet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/gnuplot.h"

static pbd_status list_panels(const pbd_sheet_panel *panel, size_t panels, const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) return pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
    for (size_t i = 0; i < panels; i++) fprintf(file, "%s\t%s\n", panel[i].picture, panel[i].caption);
    const bool bad = ferror(file) != 0;
    if (fclose(file) == 0 && !bad) return pbd_ok();
    return pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
}

pbd_status pbd_sheet_draw(const char *folder, const char *name, const pbd_sheet_panel *panel, size_t panels,
                          size_t columns, const pbd_album *a) {
    char list[4200], target[4096], palette[400], width[20], height[20], least[40], scale[40], grid[40], count[20];
    char across[20], *output PBD_CLEANUP(pbd_free_memory) = NULL;
    snprintf(target, sizeof target, "%s/%s", folder, name);
    snprintf(list, sizeof list, "%s.tsv", target);
    pbd_status status = list_panels(panel, panels, list);
    pbd_album_spell_palette(palette, sizeof palette);
    snprintf(count, sizeof count, "%zu", panels);
    snprintf(across, sizeof across, "%zu", columns);
    snprintf(width, sizeof width, "%d", a->width);
    snprintf(height, sizeof height, "%d", a->height);
    snprintf(least, sizeof least, "%.6e", a->scale_low); /* gnuplot reads 1e-9 as 1 */
    snprintf(scale, sizeof scale, "%.6e", a->scale_high);
    snprintf(grid, sizeof grid, "%g", a->camera.grid);
    const pbd_gnuplot_variable variable[] = {
        {"folder", folder},
        {"list", list},
        {"count", count},
        {"across", across},
        {"width", width},
        {"height", height},
        {"least", least},
        {"scale", scale},
        {"label", pbd_colour_has_scale(a->colour) ? pbd_colour_label(a->colour) : ""},
        {"grid", grid},
        {"colours", palette},
        {"target", target}};
    if (status.code == PBD_OK) {
        remove(target);
        status = pbd_gnuplot("snapshots.gp", variable, sizeof variable / sizeof *variable, &output);
        if (status.code == PBD_BAD_INPUT)
            status = pbd_error(PBD_FAILED, "%.150s: %.200s", status.text, output ? output : "");
    }
    remove(list);
    return status;
}
