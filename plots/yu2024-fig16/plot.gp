load style
set output out . '/yu2024-fig16.png'
set terminal pngcairo size 1400,520 font 'DejaVu Sans,14'
set multiplot layout 1,3 margins 0.07,0.98,0.14,0.91 spacing 0.075,0.1
file = data . '/cost.tsv'
set logscale x
set xrange [1500:6e6]
set format x '10^{%T}'
set xlabel 'particles'
set yrange [0:*]
set title '(a) a particle, step and iteration' . quick
set ylabel 'ns' offset 1,0
set key at graph 0.97,0.5 right top
plot file using 1:2 with linespoints ls 1 title 'xpbi, one CPU thread', \
     data . '/paper.tsv' using 1:2 with linespoints ls 2 title 'paper (see caption)'
set yrange [0:*]
set title '(b) and for each neighbour' . quick
unset key
plot file using 1:3 with linespoints ls 1
set title '(c) memory' . quick
set ylabel 'bytes a particle' offset 1,0
plot file using 1:4 with linespoints ls 1
unset multiplot
