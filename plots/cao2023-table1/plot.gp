load style
stats data . '/numbers.tsv' using 1:2 name 'TORI' nooutput
set output out . '/cao2023-table1.png'
set terminal pngcairo size 1500,760 font 'DejaVu Sans,14'
set multiplot
set lmargin at screen 0.07
set rmargin at screen 0.595
set bmargin at screen 0.11
set tmargin at screen 0.93
set title '(a) a frame of the seven scenes of Table 1' . (TORI_max_y > 0 ? ', here of fewer particles' : '') . quick
set ylabel 'time of a frame, ms' offset 1,0
set logscale y
set yrange [0.8:8000]
set xrange [0.4:7.6]
set boxwidth 0.2
set key top left reverse Left horizontal maxcols 2
set xtics nomirror scale 0
unset grid
set grid ytics
file = data . '/rows.tsv'
plot file every ::1 using ($1 - 0.3):4 with boxes fs solid 1 lc rgb '#1b3a6b' title 'here, one thread', \
     file every ::1 using ($1 - 0.43):10 with points pt 9 ps 1.2 lc rgb '#2e7d4f' title 'all at once', \
     file every ::1 using ($1 - 0.1):5 with boxes fs pattern 2 lc rgb '#1b3a6b' title 'collision in it', \
     file every ::1 using ($1 + 0.1):6 with boxes fs solid 0.55 lc rgb '#c2571a' title 'paper, GTX 1080', \
     file every ::1 using ($1 + 0.3):7 with boxes fs pattern 1 lc rgb '#c2571a' title 'collision in it', \
     file every ::1 using 1:(1e-3):xticlabels(2) with points notitle, \
     file every ::1 using ($1 - 0.3):($4 * 1.15):(sprintf('%.0f', $4)) with labels font ',11' notitle, \
     file every ::1 using ($1 - 0.1):($5 * 1.15):(sprintf('%.0f', $5)) with labels font ',11' notitle, \
     file every ::1 using ($1 + 0.1):($6 * 1.15):(sprintf('%.1f', $6)) with labels font ',11' notitle, \
     file every ::1 using ($1 + 0.3):($7 * 1.15):(sprintf('%.1f', $7)) with labels font ',11' notitle
set lmargin at screen 0.825
set rmargin at screen 0.985
set title sprintf('(b) %d tori: one assumption changed by two', TORI_max_x) . quick offset -14,0
unset ylabel
set xlabel 'time over that before'
set logscale x 2
unset logscale y
set xrange [0.4:10]
set yrange [8.6:-0.6]
set xtics scale 0.5 (0.5, 1, 2, 4, 8)
set ytics scale 0
unset key
unset grid
set grid xtics
set arrow 1 from 1, graph 0 to 1, graph 1 nohead lc rgb 'gray30' lw 1
plot data . '/varied.tsv' every ::1 using (1):1:($3 - 1):(0) with vectors nohead lc rgb '#1b3a6b' lw 2, \
     data . '/varied.tsv' every ::1 using 3:1:yticlabels(2) with points pt 7 ps 1.4 lc rgb '#1b3a6b'
unset multiplot
