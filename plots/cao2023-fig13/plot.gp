load style
set output out . '/cao2023-fig13.png'
set terminal pngcairo size 1400,620 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.075,0.985,0.13,0.9 spacing 0.09,0.1
file = data . '/throws.tsv'
stats data . '/numbers.tsv' using 1 skip 1 nooutput
array name[5] = ['corrected SPH, C = ψ', 'corrected SPH, C = √(2ψ)', 'MLSRK, support 2', 'MLSRK, support 2.5', 'kernel of MLSRK in our solver']
array colour[5] = ['#1b3a6b', '#5b8db8', '#c0392b', '#e08e45', 'gray50']
set xlabel 'v0, m/s'
set xrange [0:85]
set logscale y
set title sprintf('(a) distance from the shape at rest after the throw, %d particles', STATS_max) . quick
set ylabel 'rest shape error'
set yrange [0.02:30]
set key bottom right Left reverse
plot 0.3 with lines lc rgb 'gray40' lw 0.8 dt 3 notitle, \
     for [k=1:5] file using ($1 == k - 1 ? $2 : NaN):3 with linespoints pt 6 ps 1.3 lw (k == 5 ? 1 : 2) lc rgb colour[k] title name[k], \
     for [k=1:5] file using ($1 == k - 1 && $5 == 1 ? $2 : NaN):3 with points pt 7 ps 1.3 lc rgb colour[k] notitle
set title '(b) the fastest particle' . quick
set ylabel 'largest speed over v0'
set yrange [0.5:50]
unset key
plot for [k=1:5] file using ($1 == k - 1 ? $2 : NaN):4 with linespoints pt 6 ps 1.3 lw (k == 5 ? 1 : 2) lc rgb colour[k] notitle, \
     for [k=1:5] file using ($1 == k - 1 && $5 == 1 ? $2 : NaN):4 with points pt 7 ps 1.3 lc rgb colour[k] notitle
unset multiplot
