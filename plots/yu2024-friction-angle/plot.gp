load style
set output out . '/yu2024-friction-angle.png'
set terminal pngcairo size 1400,640 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.07,0.98,0.12,0.92 spacing 0.1,0.1
array name[3] = ['XPBI', 'MPM', 'XPBD grains']
set xlabel 'friction angle, degrees'
set xrange [18:47]
set key bottom right
set title "(a) slope of the heap's flank" . quick
set ylabel 'degrees'
set yrange [0:70]
plot x with lines lc rgb 'gray40' lw 2 dt 1 title 'slope = friction angle', \
     for [k=1:3] data . '/slopes.tsv' using 1:(column(k + 1)) with linespoints ls k ps 1.4 title name[k]
set title '(b) run-out' . quick
set ylabel '(r - r_0) / r_0'
set yrange [0:*]
set key top right
plot for [k=1:3] data . '/spreads.tsv' using 1:(column(k + 1)) with linespoints ls k ps 1.4 title name[k]
unset multiplot
