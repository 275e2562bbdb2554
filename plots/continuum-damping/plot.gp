load style
set output out . '/continuum-damping.png'
set terminal pngcairo size 1300,1000 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.085,0.985,0.075,0.955 spacing 0.095,0.135
stats data . '/fem_frequency.tsv' using 1 nooutput
f = STATS_min
set logscale xy
set xlabel 'time step, ms'
set xrange [0.4:25]
set key bottom right spacing 1.0

set title '(a) damping ratio of the first mode'
set ylabel 'damping ratio'
set format y '10^{%T}'
set yrange [1e-3:1]
set key top left reverse Left
plot pi * f * x / 1000 with lines lc rgb 'gray30' dt 3 title 'π f Δt', \
     data . '/fem_swing.tsv' using 1:2 with linespoints ls 6 title 'FEM, backward Euler', \
     data . '/swing.tsv' using 1:3 with linespoints ls 2 title 'XPBD, 10 iterations', '' using 1:4 with linespoints ls 3 title 'XPBD, 50 iterations', \
     '' using 1:2 with linespoints ls 1 title 'PBD, 10 iterations', '' using 1:5 with linespoints ls 4 title 'strain-based PBD, 10 iterations'

set title '(b) frequency of the first mode'
set ylabel 'Hz'
set yrange [0.3:100]
set key top right noreverse Right
plot f with lines lc rgb 'gray30' dt 3 notitle, \
     data . '/fem_swing.tsv' using 1:5 with linespoints ls 5 title 'FEM, implicit midpoint', '' using 1:4 with linespoints ls 6 title 'FEM, backward Euler', \
     data . '/swing.tsv' using 1:7 with linespoints ls 2 title 'XPBD, 10 iterations', '' using 1:8 with linespoints ls 3 title 'XPBD, 50 iterations', \
     '' using 1:6 with linespoints ls 1 title 'PBD, 10 iterations', '' using 1:9 with linespoints ls 4 title 'strain-based PBD, 10 iterations'

set title '(c) angular momentum lost in two revolutions'
set ylabel 'loss'
set yrange [1e-4:100]
set key top left reverse Left
plot data . '/fem_spin.tsv' using 1:3 with linespoints ls 5 title 'FEM, implicit midpoint (size)', '' using 1:2 with linespoints ls 6 title 'FEM, backward Euler', \
     data . '/spin.tsv' using 1:3 with linespoints ls 2 title 'XPBD, 10 iterations', '' using 1:4 with linespoints ls 3 title 'XPBD, 50 iterations', \
     '' using 1:2 with linespoints ls 1 title 'PBD, 10 iterations', '' using 1:5 with linespoints ls 4 title 'strain-based PBD, 10 iterations'

set title '(d) energy of the spinning bar, Δt = 5 ms'
unset logscale
set format y '%g'
set xlabel 'time, s'
set ylabel 'energy / energy at the start'
set xrange [0:2]
set yrange [0:1.1]
set key bottom left reverse Left
plot data . '/energy_fem_midpoint.tsv' using 1:2 with lines ls 5 title 'FEM, implicit midpoint', data . '/energy_fem_euler.tsv' using 1:2 with lines ls 6 title 'FEM, backward Euler', \
     data . '/energy_xpbd.tsv' using 1:2 with lines ls 2 title 'XPBD, 10 iterations', data . '/energy_pbd.tsv' using 1:2 with lines ls 1 title 'PBD, 10 iterations'
unset multiplot
