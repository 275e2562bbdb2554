load style
set output out . '/rivals-shear.png'
set terminal pngcairo size 1000,700 font 'DejaVu Sans,14'
set logscale xy
set format y '10^{%T}'
set xlabel 'step over the time in which a wave crosses a cube'
set ylabel 'of the step that is left after 200 iterations'
set xrange [0.05:10]
set key bottom right
set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb 'gray60' dt 3
plot data . '/errors.tsv' using 1:2 with linespoints ls 2 title '|F|, then J', '' using 1:3 with linespoints ls 5 title 'J, then |F|', \
     '' using 1:4 with linespoints ls 4 title 'both at once', '' using 1:5 with linespoints ls 1 title '√(2Ψ)', \
     '' using 1:6 with linespoints ls 3 title 'six strains (StVK)'
