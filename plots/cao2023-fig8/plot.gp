load style
set output out . '/cao2023-fig8.png'
set terminal pngcairo size 1400,950 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.075,0.985,0.075,0.955 spacing 0.08,0.14
file = data . '/motion.tsv'
stats data . '/numbers.tsv' using 1:2 name 'EACH' nooutput
stats data . '/numbers.tsv' using 3:4 name 'SAUSAGES' nooutput
stats data . '/numbers.tsv' using 6:7 name 'PIECES' nooutput
stats data . '/numbers.tsv' using 5:8 name 'LARGE' nooutput
set xrange [0:4]
set xlabel 'time, s'
set ylabel 'pieces that hang together'
set key top left
sausages(n) = n == 1 ? '1 sausage' : sprintf('%d sausages', n)
set title '(a) sausages of ' . number(EACH_max_x) . ' particles' . quick
set yrange [0:26]
plot file using 2:(strcol(1) eq 'two' ? $3 : NaN) with lines ls 1 title sprintf('%d, three cuts: %d expected', SAUSAGES_max_x, PIECES_max_x), \
     file using 2:(strcol(1) eq 'two whole' ? $3 : NaN) with lines ls 2 title sprintf('%d, no knife', SAUSAGES_max_x), \
     file using 2:(strcol(1) eq 'three shifted' ? $3 : NaN) with lines ls 3 title sprintf('%d, three cuts: %d expected', SAUSAGES_max_y, PIECES_max_y), \
     file using 2:(strcol(1) eq 'three printed' ? $3 : NaN) with lines ls 4 title 'the same, switched as printed', \
     data . '/ends.tsv' using 2:(strcol(1) eq 'three printed' ? $3 : NaN) with points pt 2 ps 2.2 lw 2 lc rgb 'black' notitle
set title '(b) ' . sausages(LARGE_max_x) . ' of ' . number(EACH_max_y) . quick
set yrange [0:22]
plot file using 2:(strcol(1) eq 'full shifted' ? $3 : NaN) with lines ls 3 title sprintf('three cuts: %d expected', LARGE_max_y), \
     file using 2:(strcol(1) eq 'full printed' ? $3 : NaN) with lines ls 4 title 'the same, switched as printed', \
     data . '/ends.tsv' using 2:(strcol(1) eq 'full printed' ? $3 : NaN) with points pt 2 ps 2.2 lw 2 lc rgb 'black' notitle, \
     file using 2:(strcol(1) eq 'full whole' ? $3 : NaN) with lines ls 2 title 'no knife', \
     file using 2:(strcol(1) eq 'once shifted' ? $3 : NaN) with lines ls 5 title 'three cuts, all at once'
set title '(c) kinetic energy' . quick
set ylabel 'over its peak'
set logscale y
set format y '10^{%L}'
set yrange [1e-6:10]
set key bottom left
plot file using 2:(strcol(1) eq 'two' ? $4 : NaN) with lines ls 1 title sprintf('%d of ', SAUSAGES_max_x) . number(EACH_max_x), \
     file using 2:(strcol(1) eq 'three shifted' ? $4 : NaN) with lines ls 3 title sprintf('%d of ', SAUSAGES_max_y) . number(EACH_max_x), \
     file using 2:(strcol(1) eq 'full shifted' ? $4 : NaN) with lines ls 4 title sprintf('%d of ', LARGE_max_x) . number(EACH_max_y), \
     file using 2:(strcol(1) eq 'once shifted' ? $4 : NaN) with lines ls 5 title 'the same, all at once'
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
     data . '/loose.tsv' using 1:3 with linespoints ls 2 title 'twelve', \
     data . '/loose.tsv' using 1:4 with linespoints ls 3 title 'three, all at once', \
     data . '/loose.tsv' using 1:5 with linespoints ls 4 title 'twelve, all at once'
unset multiplot
