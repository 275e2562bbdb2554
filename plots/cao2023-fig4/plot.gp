load style
set output out . '/cao2023-fig4.png'
set terminal pngcairo size 1400,900 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.09,0.98,0.09,0.94 spacing 0.11,0.16
set title '(a) pairs that overlap' . quick
set xlabel 'time, s'
set ylabel 'number'
set yrange [0:*]
set key top left
plot data . '/pairs.tsv' using 1:2 with lines ls 2 title 'without self-collision', \
     data . '/pairs.tsv' using 1:3 with lines ls 1 title 'with'
set title '(b) height of the centre of mass' . quick
set ylabel 'm'
set key top right
plot data . '/pairs.tsv' using 1:4 with lines ls 2 title 'without self-collision', \
     data . '/pairs.tsv' using 1:5 with lines ls 1 title 'with'
set title '(c) pairs at the end, by the layers that collide' . quick
set xlabel 'layers'
set ylabel 'number'
set xrange [-0.6:2.6]
set key top right
set style fill solid 0.9
set boxwidth 0.35
plot data . '/layers.tsv' every ::1 using ($0 - 0.2):2:xtic(1) with boxes lc rgb '#c2571a' title 'two substeps', \
     data . '/layers.tsv' every ::1 using ($0 + 0.2):3 with boxes lc rgb '#1b3a6b' title 'eight'
unset multiplot
