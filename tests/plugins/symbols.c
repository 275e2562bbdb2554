/* No plug-in: it asks for everything that the contract offers, so that opening it shows whether the program exports it
 * all. It has no table, which is what it is refused for. */
#include "harness/exec/emu.h"
#include "harness/exec/real.h"
#include "methods/physics/space/colouring.h"
#include "methods/plugin.h"

typedef void (*function)(void);
#define ADDRESS(name) (function) name

__attribute__((visibility("default"))) extern const function PBD_NAME(asked)[];
const function PBD_NAME(asked)[] = {
    ADDRESS(pbd_error),          ADDRESS(pbd_real),        ADDRESS(pbd_integer),      ADDRESS(pbd_choice),
    ADDRESS(pbd_text),           ADDRESS(pbd_metric),      ADDRESS(pbd_count),        ADDRESS(pbd_series),
    ADDRESS(pbd_warning),        ADDRESS(pbd_phase_begin), ADDRESS(pbd_phase_end),    ADDRESS(pbd_stop_requested),
    ADDRESS(pbd_records),        ADDRESS(pbd_alloc),       ADDRESS(pbd_free),         ADDRESS(pbd_upload),
    ADDRESS(pbd_download),       ADDRESS(pbd_run),         ADDRESS(pbd_exec_threads), ADDRESS(pbd_exec_wait),
    ADDRESS(pbd_colour),         ADDRESS(pbd_emu_shared),  ADDRESS(pbd_emu_barrier),  ADDRESS(pbd_emu_tile_sums),
    ADDRESS(pbd_wants_iterates), ADDRESS(pbd_iterate)};
