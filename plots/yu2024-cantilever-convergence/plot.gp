load style
set output out . '/yu2024-cantilever-convergence.png'
set terminal pngcairo size 1250,620 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.085,0.985,0.11,0.77 spacing 0.085,0.1
set title '(a) at rest' . quick
set logscale xy
set xlabel 'particles across'
set ylabel 'distance of the tip from that of FEM, relative'
set xrange [3.5:21]
set yrange [0.01:2]
set xtics (4, 6, 8, 12, 18)
set key at screen 0.98,0.98 top right vertical maxrows 3 width 1
plot 1.5*x**-1.5 with lines lc rgb 'gray50' lw 0.8 dt 2 title 'n^{-1.5}', \
     data . '/tips.tsv' using 1:2 with linespoints ls 1 title '10^4 Pa', '' using 1:3 with linespoints ls 2 title '10^5 Pa', '' using 1:4 with linespoints ls 3 title '10^6 Pa', \
     '' using 1:5 with linespoints ls 1 dt 3 title '10^4 Pa, hourglass control', '' using 1:6 with linespoints ls 2 dt 3 title '10^5 Pa, hourglass control', '' using 1:7 with linespoints ls 3 dt 3 title '10^6 Pa, hourglass control', '' using 1:(abs($8)) with linespoints ls 4 title '10^5 Pa, that and constraint=stress'
unset logscale
set title '(b) E = 10^4 Pa, 8 across' . quick
set xlabel 'time, s'
set ylabel 'tip over that of FEM at rest'
set xrange [0:4]
set yrange [0:2]
set xtics auto
set key inside top left vertical maxrows auto width 0
plot 1 with lines lc rgb 'gray50' lw 0.8 dt 2 notitle, data . '/time.tsv' using 1:2 with lines ls 1 title 'as the paper has it', '' using 1:3 with lines ls 3 title 'hourglass control'
unset multiplot
