load style
set output out . '/rodero2016-fig2.png'
set terminal pngcairo size 760,640 font 'DejaVu Sans,14'
unset border
unset tics
unset key
unset grid
set view 68,28,1.25,1
set view equal xyz
set xrange [-1.8:1.8]
set yrange [-1.8:1.8]
set zrange [-0.2:2.8]
set title "order of the nodes: the paper's, and in brackets the program's" . quick
lines = data . '/lines.tsv'
set arrow 1 from -1,-1,0 to 1.7,-1,0 front lc rgb '#c0392b' lw 2 filled
set arrow 2 from -1,-1,0 to -1,1.9,0 front lc rgb '#2e7d32' lw 2 filled
set arrow 3 from -1,-1,0 to -1,-1,2.6 front lc rgb '#1b3a6b' lw 2 filled
set label 'x' at 1.8,-1,0 textcolor rgb '#c0392b'
set label 'y' at -1,2.05,0 textcolor rgb '#2e7d32'
set label 'z' at -1,-1,2.75 textcolor rgb '#1b3a6b'
splot lines using 1:2:($7 == 3 ? $3 : NaN):4:5:6 with vectors nohead lc rgb 'gray85' lw 1, \
      lines using 1:2:($7 == 2 ? $3 : NaN):4:5:6 with vectors nohead lc rgb 'gray70' lw 1, \
      lines using 1:2:($7 == 1 ? $3 : NaN):4:5:6 with vectors nohead lc rgb 'black' lw 2.5, \
      data . '/nodes.tsv' using 1:2:3 with points pt 7 ps 1.6 lc rgb 'black', \
      data . '/nodes.tsv' using 1:2:3:(sprintf('%d (%d)', $4, $5)) with labels offset 3,0.4 font ',16'
