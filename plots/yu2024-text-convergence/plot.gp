load style
set output out . '/yu2024-text-convergence.png'
set terminal pngcairo size 1400,880 font 'DejaVu Sans,13'
set multiplot layout 2,2 margins 0.075,0.98,0.085,0.945 spacing 0.1,0.17
set format y '10^{%L}'
set logscale xy
set title '(a) tip from the converged one, E = 10^6 Pa' . quick
set xlabel 'solves of constraints'
set ylabel 'relative distance'
set format x '10^{%L}'
set key bottom left
file = data . '/tips.tsv'
plot file using 1:2 with linespoints ls 1 title 'one constraint', '' using 1:3 with linespoints ls 2 title 'the pair'
set title '(b) residual after 50 iterations' . quick
set xlabel 'E, Pa'
set ylabel 'over the start'
set xrange [5e3:2e6]
set yrange [1e-14:1e6]
set key top left Left reverse
file = data . '/residuals.tsv'
plot file using 1:2 with linespoints ls 1 title 'Gauss-Seidel, coarse', '' using 1:3 with linespoints ls 3 title 'Gauss-Seidel, fine', '' using 1:4 with linespoints ls 2 title 'Jacobi, coarse', '' using 1:5 with linespoints ls 4 title 'Jacobi, fine'
set title '(c) mass elsewhere than after 40 iterations' . quick
set xlabel 'iterations a step'
set ylabel 'share'
unset logscale
set logscale x
set format x '%g'
set format y '%g'
set xrange [0.8:13]
set yrange [0:0.8]
set xtics (1,2,5,10)
set key top right
file = data . '/shapes.tsv'
plot file using 1:2 with linespoints ls 1 title 'sand', '' using 1:4 with lines lw 1 dt 3 lc rgb '#1b3a6b' title 'sand, another seed', '' using 1:3 with linespoints ls 2 title 'goo', '' using 1:5 with lines lw 1 dt 5 lc rgb '#c2571a' title 'goo, another seed'
set title '(d) residual after 10 iterations' . quick
unset logscale x
set logscale y
set format y '10^{%L}'
set xlabel 'deviation of the nearest distance, spacings'
set ylabel 'over the start'
set xrange [0:*]
set yrange [*:*]
set xtics auto
set key at graph 0.97, 0.75 right top
file = data . '/uneven.tsv'
plot file using 1:2 with linespoints ls 1 title 'E = 10^5 Pa', '' using 1:3 with linespoints ls 2 title 'E = 10^7 Pa'
unset multiplot
