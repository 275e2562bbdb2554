load style
set output out . '/yu2024-fig16.png'
set terminal pngcairo size 1300,900 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.08,0.98,0.08,0.95 spacing 0.105,0.15
file = data . '/cost.tsv'
paper = data . '/paper.tsv'
set logscale xy
set xrange [1500:6e6]
set format x '10^{%T}'
set format y '10^{%T}'
set xlabel 'particles'
set title '(a) a frame of 250 steps' . quick
set ylabel 's'
set yrange [1:*]
set key top left Left reverse
plot file using 1:2 with linespoints ls 1 title 'xpbi, one CPU thread', \
     paper using 1:2 with linespoints ls 2 title 'paper, RTX 4090', \
     paper every ::1 using 1:($2 / 1.6):(sprintf('%.3g', $2)) with labels offset 1.5,0 notitle
set title '(b) a frame for each particle' . quick
set ylabel 'ms' offset 1,0
set yrange [0.02:30]
plot file using 1:3 with linespoints ls 1 title 'xpbi, one CPU thread', \
     paper using 1:3 with linespoints ls 2 title 'paper, as printed', \
     paper every ::1 using 1:($3 / 1.4):(sprintf('%.3g', $3)) with labels notitle
unset logscale y
set format y '%g'
set yrange [0:*]
set title '(c) a neighbour, step and iteration' . quick
set ylabel 'ns' offset 1,0
unset key
plot file using 1:4 with linespoints ls 1
set title '(d) memory' . quick
set ylabel 'bytes a particle' offset -0.6,0
plot file using 1:5 with linespoints ls 1
unset multiplot
