load style
set output out . '/cao2023-stiffness.png'
set terminal pngcairo size 1300,1000 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.08,0.985,0.075,0.955 spacing 0.085,0.135
right = 'gray40'

set title '(a) iterations, E = 10^5 Pa'
set logscale xy
set format y '10^{%T}'
set xlabel 'iterations a step'
set ylabel 'tip / tip of FEM, same mesh'
set yrange [1e-4:1e2]
set key bottom left reverse Left maxrows 4 samplen 2
plot 1 with lines lc rgb right lw 0.8 dt 3 notitle, \
     data . '/iterations.tsv' using 1:2 with linespoints ls 1 title 'PBD, 5 ms', '' using 1:3 with linespoints ls 2 title 'PBD, 1 ms', \
     '' using 1:4 with linespoints ls 3 title 'XPBD Ψ, 5 ms', '' using 1:5 with linespoints ls 4 title 'XPBD Ψ, 1 ms', \
     '' using 1:6 with linespoints ls 5 title 'XPBD √(2Ψ), 5 ms', '' using 1:7 with linespoints ls 6 title 'XPBD √(2Ψ), 1 ms', \
     data . '/iterations_restless.tsv' using 1:2 with points pt 2 ps 1.5 lc rgb 'black' notitle

set title '(b) time step, 20 iterations'
set xlabel 'time step, ms'
set ylabel '|tip / tip of FEM, same mesh − 1|'
set yrange [1e-6:1e2]
set key top left Left reverse maxrows 3
plot data . '/steps.tsv' using 1:2 with linespoints ls 1 title 'PBD, E = 10^5', '' using 1:3 with linespoints ls 3 title 'XPBD Ψ, E = 10^5', \
     '' using 1:4 with linespoints ls 2 title 'XPBD √(2Ψ), E = 10^4', '' using 1:5 with linespoints ls 5 title 'the same, E = 10^5', \
     '' using 1:6 with linespoints ls 6 title 'the same, E = 10^6', \
     data . '/steps_restless.tsv' using 1:2 with points pt 2 ps 1.5 lc rgb 'black' title 'not at rest'

set title '(c) mesh, XPBD √(2Ψ), 0.5 ms, 10 iterations'
unset logscale
set format y '%g'
set xlabel 'cubes across (five tetrahedra each)'
set ylabel 'tip / tip of FEM, quadratic elements'
set xrange [0.8:4.2]
set xtics 1
set yrange [0:1.1]
set key bottom right Right noreverse maxrows 5
plot 1 with lines lc rgb right lw 0.8 dt 3 notitle, \
     data . '/meshes.tsv' using 1:2 with points ls 2 ps 1.6 title 'XPBD, E = 10^4', '' using 1:4 with lines ls 2 title 'FEM tet4, E = 10^4', \
     '' using 1:3 with points ls 5 ps 1.6 title 'XPBD, E = 10^5', '' using 1:5 with lines ls 5 title 'FEM tet4, E = 10^5'

set title '(d) what accuracy costs, XPBD √(2Ψ), E = 10^6 Pa'
set logscale xy
set format '10^{%T}'
set xrange [*:*]
set xtics auto
set yrange [1e-6:1e1]
set xlabel 'constraint solves per second of simulated time'
set ylabel '|tip / tip of FEM − 1|'
set key bottom left Left reverse maxrows 6 spacing 1.0
steps = "5 2 1 0.5 0.2"
plot for [i=1:5] data . '/cost.tsv' using 3:(abs($1 - real(word(steps, i))) < 1e-6 ? $4 : NaN) with linespoints ls i \
     title word(steps, i) . ' ms; 1, 3, 10, 30 iterations', \
     data . '/cost_restless.tsv' using 1:2 with points pt 2 ps 1.5 lc rgb 'black' title 'not at rest'
unset multiplot
