load style
set output out . '/yu2024-fig8.png'
set terminal pngcairo size 1400,560 font 'DejaVu Sans,14'
set multiplot layout 1,3 margins 0.055,0.98,0.125,0.92 spacing 0.082,0.1
file = data . '/run.tsv'
names = ''
stats data . '/names.tsv' every ::1 using 1 nooutput
array name[3]
do for [i=1:3] { name[i] = '' }
do for [i=1:STATS_records] { stats data . '/names.tsv' every ::i::i using 1 nooutput; name[i] = sprintf('%.0f particles', STATS_min) }
set xlabel 'time, s'
set title '(a) sand below the neck' . quick
set ylabel 'share of the mass'
set yrange [0:1.05]
set key bottom right
plot for [i=1:3] file using 1:1+i with lines ls i title name[i], \
     data . '/printed.tsv' using 1:2 with lines ls 5 title 'density 1, as printed'
set title '(b) kinetic energy' . quick
set ylabel "J" offset 1,0
set logscale y
set format y '10^{%L}'
set yrange [*:*]
unset key
plot for [i=1:3] file using 1:4+i with lines ls i
unset logscale y
set format y '%g'
set title '(c) distance of nearest neighbours' . quick
set ylabel "mean, over the spacing" offset 1,0
set yrange [0.7:0.9]
plot for [i=1:3] file using 1:7+i with lines ls i
unset multiplot
