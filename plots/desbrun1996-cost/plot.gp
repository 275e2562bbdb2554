load style
set output out . '/desbrun1996-cost.png'
set terminal pngcairo size 1300,560 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.075,0.985,0.13,0.9 spacing 0.09,0.1
set logscale x
set format x '10^{%T}'
set xlabel 'particles'
set ylabel 'ns per particle and step'
set xrange [700:1400000]
set yrange [0:*]
set key bottom right
set title '(a) one thread' . quick
plot data . '/double.tsv' using 1:2 with linespoints ls 1 title 'f64', \
     data . '/single.tsv' using 1:2 with linespoints ls 2 title 'f32'
set title '(b) parts of it, f64'
set yrange [0:*]
set offsets 0, 0, graph 0.35, 0 # room for the key
set key top left Left reverse horizontal
plot data . '/double.tsv' using 1:3 with linespoints ls 1 title 'neighbours', \
     data . '/double.tsv' using 1:4 with linespoints ls 2 title 'density', \
     data . '/double.tsv' using 1:5 with linespoints ls 3 title 'force'
unset multiplot
