load style
set output out . '/cao2023-accuracy.png'
set terminal pngcairo size 1900,640 font 'DejaVu Sans,14'
set multiplot layout 1,3 margins 0.05,0.985,0.14,0.92 spacing 0.06,0.1
set logscale xy
set format y '10^{%T}'

set title '(a) cantilever against the mesh'
set xlabel 'cells across'
set ylabel 'distance of tip / tip of fine FEM from 1'
set xrange [1.7:10]
set xtics (2, 4, 6, 8)
set yrange [0.01:40]
set key top right
plot 4 / x**2 with lines lc rgb 'gray30' dt 3 title 'second order', \
     data . '/mesh.tsv' using 1:2 with linespoints ls 1 title 'corrected SPH, radius 1.8: too soft', \
     data . '/mesh.tsv' using 1:3 with linespoints ls 2 title 'corrected SPH, radius 2.5: too soft', \
     '' using 1:4 with linespoints ls 3 title 'MLSRK, linear basis, radius 1.8: too stiff', \
     '' using 1:5 with linespoints ls 4 title 'XPBD √(2Ψ), tet4: with 8 too soft', '' using 1:6 with points ls 5 ps 1.6 title 'FEM tet4: too stiff'

set title '(b) cantilever against Young''s modulus'
set xlabel 'E, Pa'
set ylabel 'tip deflection, m'
set format x '10^{%T}'
set xrange [7e3:1.5e7]
set xtics auto
set yrange [1e-3:3]
set key bottom left
plot data . '/moduli.tsv' using 1:2 with linespoints ls 2 title 'C = Ψ, as printed', '' using 1:3 with linespoints ls 1 title 'C = √(2Ψ)', \
     data . '/moduli_fem.tsv' using 1:2 with linespoints ls 5 title 'FEM tet4'

set title '(c) patch test: a block stretched by 1.2'
set xlabel 'cells across'
set ylabel 'unevenness'
set format x '%g'
set xrange [1.7:10]
set xtics (2, 4, 6, 8)
set yrange [1e-11:1e5]
set key top right
plot data . '/patch.tsv' using 1:2 with linespoints ls 1 title 'confined, radius 1.8', '' using 1:3 with linespoints ls 2 title 'confined, radius 2.5', \
     '' using 1:4 with linespoints ls 3 title 'free, radius 1.8', '' using 1:5 with linespoints ls 4 title 'free, radius 2.5', \
     data . '/patch_fem.tsv' using 1:2 with linespoints ls 5 title 'FEM tet4, both'
unset multiplot
