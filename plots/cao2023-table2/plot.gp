load style
set output out . '/cao2023-table2.png'
set terminal pngcairo size 1000,650 font 'DejaVu Sans,15'
set title 'Time of 500 frames over that of 10 × 3' . quick
set xlabel 'substeps × iterations of a frame'
set ylabel 'ratio'
set yrange [0:*]
set xrange [-0.6:3.6]
set style fill solid 0.9
set boxwidth 0.26
set key top right
file = data . '/times.tsv'
plot file every ::1 using ($0 - 0.28):3:xtic(1) with boxes lc rgb '#1b3a6b' title 'here, processor, within the loop', \
     file every ::1 using ($0):5 with boxes fs pattern 2 lc rgb '#1b3a6b' title 'here, all at once', \
     file every ::1 using ($0 + 0.28):7 with boxes lc rgb '#c2571a' title 'paper, GTX 1080', \
     file every ::1 using ($0 - 0.28):3:(sprintf('%.1f s', $2)) with labels font ',12' offset 0,0.7 notitle, \
     file every ::1 using ($0):5:(sprintf('%.1f s', $4)) with labels font ',12' offset 0,0.7 notitle, \
     file every ::1 using ($0 + 0.28):7:(sprintf('%.1f s', $6)) with labels font ',12' offset 0,0.7 notitle
