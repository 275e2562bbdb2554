load style
set output out . '/cao2023-table3.png'
set terminal pngcairo size 1300,720 font 'DejaVu Sans,14'
stats data . '/numbers.tsv' using 1 name 'PARTICLES' nooutput
set title 'making the gradients at rest of ' . number(PARTICLES_max) . ' particles' . quick
set ylabel 'median time, ms (CPU time on one thread)'
set logscale y
set yrange [0.1:400]
set xrange [0.4:6.6]
set boxwidth 0.34
set style fill solid 0.85
set key top left reverse Left
set xtics nomirror scale 0.4 font ',13'
set bmargin 3
plot data . '/times.tsv' every ::1 using ($1 - 0.18):3:xticlabels(2) with boxes lc rgb '#5c86bf' title 'corrected SPH', \
     data . '/times.tsv' every ::1 using ($1 + 0.18):4 with boxes fillstyle pattern 2 lc rgb '#8a2f16' title 'MLS, linear basis', \
     data . '/times.tsv' every ::1 using ($1):($4 * 1.25):(sprintf('x %s', strcol(5))) with labels notitle, \
     data . '/times.tsv' every ::1 using ($1 - 0.18):($3 * 0.85):(sprintf('%.3g', $3)) with labels textcolor rgb 'white' notitle
