/* Pictures of one size on one sheet, with a caption below each and what their colours mean. */
#ifndef PBD_SHEET_H
#define PBD_SHEET_H

#include "harness/picture/album.h"

typedef struct pbd_sheet_panel {
    char picture[60], caption[140]; /* its file in the sheet's folder */
} pbd_sheet_panel;

/* Draws FOLDER/NAME by gnuplot (plots/snapshots.gp). columns 0: by the number of pictures. The album tells their size
 * and colours. PBD_NOT_SUPPORTED without gnuplot, PBD_FAILED with what it said. */
pbd_status pbd_sheet_draw(const char *folder, const char *name, const pbd_sheet_panel *panel, size_t panels,
                          size_t columns, const pbd_album *album);

#endif
