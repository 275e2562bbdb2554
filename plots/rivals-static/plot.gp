load style
set output out . '/rivals-static.png'
set terminal pngcairo size 1400,620 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.065,0.985,0.12,0.92 spacing 0.08,0.1
set logscale xy
set xlabel 'sweeps in a step of 4 ms'
set ylabel 'sag over that of static FEM, same mesh'
set xrange [0.9:120]
set yrange [0.3:40]
set key top right
set title 'E = 1e5 Pa'
plot 1 with lines lc rgb 'gray60' dt 3 notitle, \
     data . '/soft.tsv' using 1:2 with linespoints ls 1 title 'adaptive', '' using 1:3 with linespoints ls 2 title 'inertia', \
     '' using 1:4 with linespoints ls 3 title 'previous'
set title 'E = 1e6 Pa'
plot 1 with lines lc rgb 'gray60' dt 3 notitle, \
     data . '/stiff.tsv' using 1:2 with linespoints ls 1 title 'adaptive', '' using 1:3 with linespoints ls 2 title 'inertia', \
     '' using 1:4 with linespoints ls 3 title 'previous'
unset multiplot
