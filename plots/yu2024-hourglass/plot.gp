load style
set output out . '/yu2024-hourglass.png'
set terminal pngcairo size 1250,560 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.09,0.985,0.15,0.76 spacing 0.1,0.1
set xlabel 'particles across'
set ylabel 'sag of the tip over that of FEM'
set xrange [2.5:17]
set xtics (4, 6, 8, 12, 16)
set logscale y
set yrange [0.8:12]
set ytics (0.8, 1, 1.5, 2, 3, 5, 10)
set key at screen 0.98,0.98 top right vertical maxrows 3 width 1
set title '(a) kernels at x^n' . quick
plot 1 with lines lc rgb 'gray50' lw 0.8 dt 2 notitle, \
     data . '/current.tsv' using 1:2 with linespoints ls 1 title '10^4 Pa', '' using 1:4 with linespoints ls 2 title '10^5 Pa', '' using 1:6 with linespoints ls 3 title '10^6 Pa', \
     '' using 1:3 with linespoints ls 1 dt 3 title '10^4 Pa, hourglass control of 3', '' using 1:5 with linespoints ls 2 dt 3 title '10^5 Pa, hourglass control of 3', '' using 1:7 with linespoints ls 3 dt 3 title '10^6 Pa, hourglass control of 3'
unset key
unset logscale
set title '(b) kernels at rest' . quick
set yrange [0.95:1.15]
set ytics 0.05
plot 1 with lines lc rgb 'gray50' lw 0.8 dt 2 notitle, \
     data . '/rest.tsv' using 1:2 with linespoints ls 1, '' using 1:4 with linespoints ls 2, '' using 1:6 with linespoints ls 3, \
     '' using 1:3 with linespoints ls 1 dt 3, '' using 1:5 with linespoints ls 2 dt 3, '' using 1:7 with linespoints ls 3 dt 3
unset multiplot
