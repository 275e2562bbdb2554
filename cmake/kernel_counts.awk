# Makes the table of static counts of the CUDA kernels from the compiler's logs (cmake/ptxas_log): one line for each
# kernel, precision and architecture, sorted by name. Bytes are per thread, shared memory per block; occupancy is the
# share of a multiprocessor's warps that registers and shared memory allow, for blocks of `block` threads.
BEGIN {
    for (i = 1; i < ARGC; i++) ARGV[i] = ARGV[i] ".ptxas" # given: the objects
    # Warps, blocks and bytes of shared memory of a multiprocessor: CUDA C++ Programming Guide, compute capabilities. All
    # have 65,536 registers, given to warps in units of 256; shared memory in units of 128 bytes and 1 KiB for the system.
    split("75 80 86 87 89 90 100 103 120", archs, " ")
    split("32 64 48 48 48 64 64 64 48", warps, " ")
    split("16 32 16 16 24 32 32 32 24", blocks, " ")
    split("64 164 100 164 100 228 228 228 100", shared, " ")
    for (i in archs) {
        most_warps[archs[i]] = warps[i]
        most_blocks[archs[i]] = blocks[i]
        most_shared[archs[i]] = 1024 * shared[i]
    }
    print "kernel,precision,arch,registers,stack,spill_stores,spill_loads,shared,blocks_per_multiprocessor,occupancy"
}
function least(a, b) { return a < b ? a : b }
/Compiling entry function/ {
    name = ""
    if (match($0, /pbd_global_[a-z0-9_]*_(float|double)/) == 0) next
    name = substr($0, RSTART + 11, RLENGTH - 11)
    precision = name ~ /_float$/ ? "f32" : "f64"
    sub(/_(float|double)$/, "", name)
    match($0, /'sm_[0-9]*/)
    arch = substr($0, RSTART + 4, RLENGTH - 4)
}
/bytes stack frame/ && name != "" {
    stack = $1
    stores = $5
    loads = $9
}
/Used [0-9]+ registers/ && name != "" {
    match($0, /Used [0-9]+/)
    registers = substr($0, RSTART + 5, RLENGTH - 5)
    memory = 0
    if (match($0, /[0-9]+ bytes smem/)) memory = substr($0, RSTART, RLENGTH) + 0
    own = int((32 * registers + 255) / 256) * 256
    fit = least(most_blocks[arch], int(most_warps[arch] / (block / 32)))
    fit = least(fit, int(int(65536 / own) / (block / 32)))
    if (memory > 0) fit = least(fit, int(most_shared[arch] / (int((memory + 127) / 128) * 128 + 1024)))
    line = sprintf("%s,%s,%s,%d,%d,%d,%d,%d,", name, precision, arch, registers, stack, stores, loads, memory)
    line = line (arch in most_warps ? sprintf("%d,%.2f", fit, fit * block / 32 / most_warps[arch]) : ",")
    if (!(line in seen)) print line | "LC_ALL=C sort -t, -k1,1 -k2,2 -k3,3n"
    seen[line] = 1
    name = ""
}
