load style
set output out . '/cao2023-fig3.png'
set terminal pngcairo size 1400,900 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.08,0.98,0.09,0.94 spacing 0.1,0.16
stats data . '/numbers.tsv' using 1:2 name 'TORI' nooutput
stats data . '/numbers.tsv' using 3:4 name 'LAYERS' nooutput
set title sprintf('(a) %d tori: kinetic energy', TORI_max_x) . quick
set xlabel 'time, s'
set ylabel 'over its peak'
set logscale y
set format y '10^{%L}'
set yrange [1e-4:2]
set key top right
plot data . '/motion.tsv' using ($1 == 0 ? $2 : NaN):3 with lines ls 1 title 'within the loop', \
     data . '/motion.tsv' using ($1 == 1 ? $2 : NaN):3 with lines ls 2 title 'all at once'
unset logscale y
set format y '%g'
set yrange [0:*]
set title sprintf('(b) %d tori: what should not be', TORI_max_x) . quick
set ylabel 'overlapping pairs; particles outside'
set key top right
plot data . '/motion.tsv' using ($1 == 0 ? $2 : NaN):4 with lines ls 1 title 'pairs, within the loop', \
     data . '/motion.tsv' using ($1 == 1 ? $2 : NaN):4 with lines ls 2 title 'pairs, all at once', \
     data . '/motion.tsv' using ($1 == 0 ? $2 : NaN):5 with lines ls 3 title 'outside, within the loop', \
     data . '/motion.tsv' using ($1 == 1 ? $2 : NaN):5 with lines ls 4 title 'outside, all at once'
set title sprintf('(c) %d tori: distance from a torus at the end', TORI_max_y) . quick
set xlabel 'h, spacings'
set ylabel 'mean shape error'
set xrange [1.5:3.1]
set yrange [0:0.8]
set key top left Left reverse
plot data . '/shape.tsv' using 1:2 with linespoints ls 1 title 'C = Ψ, within the loop', \
     data . '/shape.tsv' using 1:3 with linespoints ls 3 title 'C = √(2Ψ), within the loop', \
     data . '/shape.tsv' using 1:4 with linespoints ls 2 title 'C = Ψ, all at once', \
     data . '/shape.tsv' using 1:5 with linespoints ls 4 title 'C = √(2Ψ), all at once'
set title sprintf('(d) %d tori of %d particles: colliding layers', LAYERS_max_x, LAYERS_max_y) . quick
set xlabel 'time step, ms'
set ylabel 'most overlapping pairs at any time'
set logscale xy
set xrange [0.4:21]
set yrange [0.35:30000]
set xtics (0.5, 1, 2, 4, 8, 16)
set ytics ('0' 0.5, '1' 1, '10' 10, '10^2' 100, '10^3' 1000, '10^4' 10000)
set arrow 1 from 0.4,4 to 21,4 nohead lc rgb 'gray40' lw 1 dt 3
set label 1 '0.1 % of the particles' at 4.7,2.2 textcolor rgb 'gray30'
set key top left Left reverse
plot data . '/layers.tsv' using ($1 == 0 ? $2 : NaN):3 with linespoints ls 3 title 'one layer, within the loop', \
     data . '/layers.tsv' using ($1 == 0 ? $2 : NaN):4 with linespoints ls 1 title 'two layers, within the loop', \
     data . '/layers.tsv' using ($1 == 1 ? $2 : NaN):3 with linespoints ls 4 title 'one layer, all at once', \
     data . '/layers.tsv' using ($1 == 1 ? $2 : NaN):4 with linespoints ls 2 title 'two layers, all at once'
unset multiplot
