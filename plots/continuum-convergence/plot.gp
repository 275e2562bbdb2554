load style
set output out . '/continuum-convergence.png'
set terminal pngcairo size 1400,1240 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.07,0.985,0.06,0.965 spacing 0.08,0.125
set logscale xy
set format y '10^{%T}'
set ylabel '|tip / tip of hex27 on a fine mesh − 1|'
set yrange [1e-4:3000]
uncertain = 0.001

set title '(a) mesh'
set xlabel 'cells across'
set xrange [0.9:4.6]
set xtics (1, 2, 3, 4)
set key top right
set object 1 rectangle from graph 0, first 1e-4 to graph 1, first uncertain fc rgb '#eeeeee' fs solid noborder behind
plot 0.5 / x**2 with lines lc rgb 'gray30' dt 3 title 'second order', \
     data . '/mesh.tsv' using 1:2 with linespoints ls 6 title 'FEM tet4', '' using 1:6 with points ls 2 ps 1.8 title 'XPBD √(2Ψ), tet4', \
     '' using 1:3 with linespoints ls 5 title 'FEM hex8', '' using 1:4 with linespoints ls 3 title 'FEM tet10', '' using 1:5 with linespoints ls 4 title 'FEM hex27'

set title '(b) what it costs, one thread'
set xlabel 'CPU time of the solve, s'
set xrange [1e-4:1e3]
set xtics auto
set format x '10^{%T}'
set key top right
plot data . '/time_linear.tsv' using 1:2 with points ls 6 ps 1.3 title 'FEM tet4, hex8', data . '/time_quadratic.tsv' using 1:2 with points ls 4 ps 1.5 title 'FEM tet10, hex27', \
     data . '/time_gs.tsv' using 1:2 with points ls 1 title 'XPBD √(2Ψ), coloured Gauss-Seidel', data . '/time_jacobi.tsv' using 1:2 with points ls 2 title 'the same, Jacobi', \
     data . '/time_f32.tsv' using 1:2 with points ls 3 title 'Gauss-Seidel in f32: never quite at rest', data . '/time_strains.tsv' using 1:2 with points ls 5 ps 1.2 title 'strain-based XPBD (ν = 0)', \
     data . '/time_plain.tsv' using 1:2 with points pt 1 ps 1.4 lw 2 lc rgb 'black' title 'plain energy PBD', data . '/restless.tsv' using 1:2 with points pt 2 ps 1.4 lc rgb 'black' title 'not at rest'

unset object 1
set title '(c) mesh, ν = 0 and a small load'
set ylabel '|tip / Timoshenko − 1|'
set xlabel 'cells across'
set format x '%g'
set xrange [0.9:4.6]
set xtics (1, 2, 3, 4)
set yrange [0.05:2]
set key top right
plot 1.1 / x**2 with lines lc rgb 'gray30' dt 3 title 'second order', \
     data . '/small_mesh.tsv' using 1:2 with linespoints ls 6 title 'FEM tet4', '' using 1:3 with points ls 2 ps 1.8 title 'XPBD √(2Ψ)', \
     '' using 1:4 with points ls 5 ps 1.2 title 'strain-based XPBD'

set title '(d) step, ν = 0 and a small load'
set ylabel '|tip / tip of FEM with the same tetrahedra − 1|'
set xlabel 'time step, s'
set format x '10^{%T}'
set xrange [3e-4:3e-2]
set xtics auto
set yrange [1e-4:1]
set key top left
plot 4 * x with lines lc rgb 'gray30' dt 3 title 'first order', \
     data . '/steps.tsv' using 1:2 with linespoints ls 2 title 'XPBD √(2Ψ)', '' using 1:3 with linespoints ls 5 title 'strain-based XPBD'
unset multiplot
