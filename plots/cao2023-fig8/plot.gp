load style
set output out . '/cao2023-fig8.png'
set terminal pngcairo size 1400,950 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.075,0.985,0.075,0.955 spacing 0.08,0.14
file = data . '/motion.tsv'
set xrange [0:4]
set xlabel 'time, s'
set ylabel 'pieces that hang together'
set key top left
set title '(a) sausages of 1,000 particles' . quick
set yrange [0:20]
plot file using 2:(strcol(1) eq 'two' ? $3 : NaN) with lines ls 1 title 'two, three cuts: 8 expected', \
     file using 2:(strcol(1) eq 'two whole' ? $3 : NaN) with lines ls 2 title 'two, no knife', \
     file using 2:(strcol(1) eq 'three shifted' ? $3 : NaN) with lines ls 3 title 'three, three cuts: 12 expected', \
     file using 2:(strcol(1) eq 'three printed' ? $3 : NaN) with lines ls 4 title 'the same, switched as printed', \
     data . '/ends.tsv' using 2:(strcol(1) eq 'three printed' ? $3 : NaN) with points pt 2 ps 2.2 lw 2 lc rgb 'black' notitle
set title '(b) three sausages of 12,816' . quick
set yrange [0:22]
plot file using 2:(strcol(1) eq 'full shifted' ? $3 : NaN) with lines ls 3 title 'three cuts: 12 expected', \
     file using 2:(strcol(1) eq 'full printed' ? $3 : NaN) with lines ls 4 title 'the same, switched as printed', \
     data . '/ends.tsv' using 2:(strcol(1) eq 'full printed' ? $3 : NaN) with points pt 2 ps 2.2 lw 2 lc rgb 'black' notitle, \
     file using 2:(strcol(1) eq 'full whole' ? $3 : NaN) with lines ls 2 title 'no knife'
set title '(c) kinetic energy' . quick
set ylabel 'over its peak'
set logscale y
set format y '10^{%L}'
set yrange [1e-6:10]
set key bottom left
plot file using 2:(strcol(1) eq 'two' ? $4 : NaN) with lines ls 1 title 'two of 1,000', \
     file using 2:(strcol(1) eq 'three shifted' ? $4 : NaN) with lines ls 3 title 'three of 1,000', \
     file using 2:(strcol(1) eq 'full shifted' ? $4 : NaN) with lines ls 5 title 'three of 12,816'
set title '(d) one sausage: particles that came loose' . quick
set xlabel 'particles of the sausage'
set ylabel 'share, %'
set logscale x
unset logscale y
set format y '%g'
set xrange [400:5000]
set xtics (500, 1000, 2000, 4000)
set yrange [0:20]
set key top right
plot data . '/loose.tsv' using 1:2 with linespoints ls 1 title 'three substeps', \
     data . '/loose.tsv' using 1:3 with linespoints ls 2 title 'twelve'
unset multiplot
