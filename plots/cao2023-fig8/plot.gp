load style
set output out . '/cao2023-fig8.png'
set terminal pngcairo size 1400,1000 font 'DejaVu Sans,14'
set multiplot layout 3,1 margins 0.08,0.98,0.07,0.95 spacing 0.1,0.11
set xrange [0:*]
set title '(a) pieces that hang together' . quick
set ylabel 'number'
set yrange [0:*]
set key top left
file = data . '/motion.tsv'
plot file using 1:3 with lines ls 1 title 'three cuts', file using 1:2 with lines ls 2 title 'no knife'
set title '(b) kinetic energy' . quick
set ylabel 'over its peak'
set logscale y
set format y '10^{%L}'
set yrange [1e-5:2]
set key bottom left
plot file using 1:5 with lines ls 1 title 'three cuts', file using 1:4 with lines ls 2 title 'no knife'
unset logscale y
set format y '%g'
set yrange [*:*]
set title '(c) height of the centre of mass' . quick
set ylabel 'm'
set xlabel 'time, s'
set key top right
plot file using 1:7 with lines ls 1 title 'three cuts', file using 1:6 with lines ls 2 title 'no knife'
unset multiplot
