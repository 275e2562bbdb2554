load style
set output out . '/yu2024-text-kinematics.png'
set terminal pngcairo size 1500,860 font 'DejaVu Sans,13'
set multiplot layout 2,2 margins 0.07,0.98,0.1,0.94 spacing 0.09,0.17
set style data histograms
set style histogram clustered gap 1
set boxwidth 0.9
set title '(a) written by two cells of one colour' . quick
set xlabel 'particles'
set ylabel 'share of particles'
set yrange [0:1]
set xrange [0.4:2.6] # the header is the row 0
set key top left
file = data . '/conflicts.tsv'
plot file using 2:xtic(1) fill solid 0.85 lc rgb '#1b3a6b' title '2^3 colours, cells of 2r', '' using 3 fill pattern 2 lc rgb '#c2571a' title '2^3, 4r', '' using 4 fill pattern 4 lc rgb '#2e7d4f' title '3^3, 2r'
set title '(b) Eq. 12 against differences of C' . quick
set xlabel 'velocities'
set ylabel 'error over the largest derivative'
set logscale y
set format y '10^{%L}'
set yrange [1e-10:1000]
set key top left
file = data . '/derivatives.tsv'
plot file using 2:xtic(1) fill solid 0.85 lc rgb '#1b3a6b' title 'kernels at t^n', '' using 3 fill pattern 2 lc rgb '#c2571a' title 'kernels that move'
unset logscale y
set format y '%g'
set title '(c) F as stored from F by places' . quick
set xlabel ''
set ylabel 'root mean square strain'
set yrange [0:*]
set style fill solid 0.85
set xtics rotate by -20 font ',11'
set key off
file = data . '/drifts.tsv'
set boxwidth 0.6
set xrange [0.3:7.7]
plot file using 0:($3 == 0 ? $2 : NaN):xtic(1) with boxes fill solid 0.85 lc rgb '#1b3a6b', '' using 0:($3 == 1 ? $2 : NaN) with boxes fill pattern 2 lc rgb '#c2571a'
set xtics norotate font ',13'
set title '(d) a column of sand' . quick
set xlabel 'time, s'
set ylabel 'over its radius'
set xrange [0:*]
set xtics auto
file = data . '/sand.tsv'
set label 1 'run-out' at 0.45,1.95 font ',12'
set label 2 'height' at 0.45,0.75 font ',12'
set key off
plot file using 1:2 with lines ls 1, '' using 1:3 with lines ls 2
unset multiplot
