load style
set output out . '/yu2024-fig17.png'
set terminal pngcairo size 1200,560 font 'DejaVu Sans,14'
set style data histograms
set style histogram rowstacked
set boxwidth 0.6
set lmargin 10
set ylabel 'share of CPU time'
set yrange [0:1]
set title 'phases of xpbi in the hourglass' . quick
set key outside right center invert reverse Left width -2
set style fill pattern border rgb 'gray20'
plot data . '/shares.tsv' every ::1 using 2:xticlabels(1) fillstyle pattern 3 lc rgb '#1b3a6b' title 'inelasticity', \
     '' every ::1 using 3 fillstyle pattern 6 lc rgb '#5c86bf' title 'kernels', \
     '' every ::1 using 4 fillstyle pattern 2 lc rgb '#8a2f16' title 'neighbour search', \
     '' every ::1 using 5 fillstyle pattern 1 lc rgb '#c2571a' title 'colliders', \
     '' every ::1 using 6 fillstyle pattern 5 lc rgb '#2e7d4f' title 'position correction', \
     '' every ::1 using 7 fillstyle pattern 7 lc rgb '#8a3a8f' title 'XSPH', \
     '' every ::1 using 8 fillstyle pattern 0 lc rgb '#6b6b6b' title 'update of states'
