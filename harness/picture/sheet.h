/* Pictures of one size on one sheet, with a caption below each and a legend of their colours. */
#ifndef PBD_SHEET_H
#define PBD_SHEET_H

#include "harness/picture/album.h"

typedef struct pbd_sheet_panel {
    char picture[60], caption[140]; /* its file in the sheet's folder */
} pbd_sheet_panel;

/* Draws FOLDER/NAME by gnuplot (plots/snapshots.gp). columns 0: from the number of pictures. `album`: their size and
 * colours. PBD_NOT_SUPPORTED without gnuplot, PBD_FAILED with its message. */
pbd_status pbd_sheet_draw(const char *folder, const char *name, const pbd_sheet_panel *panel, size_t panels,
                          size_t columns, const pbd_album *album);

#endif
