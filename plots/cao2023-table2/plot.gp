load style
set output out . '/cao2023-table2.png'
set terminal pngcairo size 1000,650 font 'DejaVu Sans,15'
set title 'Time of 500 frames over that of 10 × 3' . quick
set xlabel 'substeps × iterations of a frame'
set ylabel 'ratio'
set yrange [0:*]
set xrange [-0.6:3.6]
set style fill solid 0.9
set boxwidth 0.35
set key top right
plot data . '/times.tsv' every ::1 using ($0 - 0.2):4:xtic(1) with boxes lc rgb '#1b3a6b' title 'here, processor', \
     data . '/times.tsv' every ::1 using ($0 + 0.2):5 with boxes lc rgb '#c2571a' title 'paper, GTX 1080', \
     data . '/times.tsv' every ::1 using ($0 - 0.2):4:(sprintf('%.1f s', $2)) with labels offset 0,0.7 notitle, \
     data . '/times.tsv' every ::1 using ($0 + 0.2):5:(sprintf('%.1f s', $3)) with labels offset 0,0.7 notitle
