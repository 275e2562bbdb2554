load style
set output out . '/yu2024-table2.png'
set terminal pngcairo size 1300,600 font 'DejaVu Sans,14'
set title 'updates of neighbours by constraints, everything included' . quick
set ylabel '10^9 a second'
set logscale y
set yrange [0.005:100]
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.85
set boxwidth 0.9
set key top left reverse Left
set xtics nomirror scale 0 rotate by -20
set bmargin 5
plot data . '/rates.tsv' every ::1 using 2:xticlabels(1) lc rgb '#c9c9c9' title 'paper, RTX 4090', \
     '' every ::1 using 3 fillstyle pattern 2 lc rgb '#8a2f16' title 'xpbi, one CPU thread, 5,000 particles', \
     '' every ::1 using 4 lc rgb '#1b3a6b' title 'the same, 20,000'
