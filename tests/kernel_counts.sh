# kernel_counts.sh TABLE: no CUDA kernel keeps anything on a stack or spills registers, on any architecture of the build.
# The table is kernels.csv of the build (cmake/kernel_counts.awk).
table=$1
if [ ! -f "$table" ]; then
    echo "skipped: no $table: this build has no CUDA objects, since nvcc was not found or PBD_CUDA is OFF"
    exit 77
fi
awk -F, '
    NR == 1 { if ($4 != "registers" || $5 != "stack" || $6 != "spill_stores" || $7 != "spill_loads") bad = "columns"; next }
    $4 < 1 { bad = "registers" }
    $5 + $6 + $7 > 0 {
        printf "%s %s sm_%s: %d bytes of stack, %d and %d of spills, %d registers\n", $1, $2, $3, $5, $6, $7, $4
        wrong++
    }
    { kernels[$1]; rows++ }
    END {
        for (k in kernels) names++
        if (bad != "") { print "the table has no " bad; exit 1 }
        if (names < 150) { print "the table has " names " kernels only"; exit 1 }
        printf "%d kernels, %d rows, %d with stack or spills\n", names, rows, wrong
        exit wrong > 0
    }' "$table"
