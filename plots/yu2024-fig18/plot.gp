load style
set output out . '/yu2024-fig18.png'
set terminal pngcairo size 1200,540 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.075,0.985,0.13,0.92 spacing 0.1,0.1
file = data . '/work.tsv'
set logscale xy
set format '10^{%T}'
set format x '%g'
set xtics (0.1, 0.2, 0.5, 1, 2, 5, 10, 20)
set xlabel "time step, ms"
set xrange [0.07:30]
set title '(a) iterations for one second' . quick
set ylabel 'iterations in all'
set key bottom left Left reverse
plot file using 1:8 with lines lc rgb 'gray40' lw 0.8 title 'one a step', file using 1:2 with linespoints ls 1 title 'E = 10^4 Pa', '' using 1:3 with linespoints ls 2 title '10^5', '' using 1:4 with linespoints ls 3 title '10^6'
set title '(b) time' . quick
set ylabel 'CPU time, s'
unset key
plot file using 1:5 with linespoints ls 1, '' using 1:6 with linespoints ls 2, '' using 1:7 with linespoints ls 3
unset multiplot
