load style
set output out . '/yu2024-text-stability.png'
set terminal pngcairo size 1400,880 font 'DejaVu Sans,13'
set multiplot layout 2,2 margins 0.075,0.98,0.085,0.945 spacing 0.1,0.17
set title '(a) a cube at rest: kinetic energy of relative motion' . quick
set xlabel 'time, s'
set ylabel 'J'
set logscale y
set yrange [1e-7:10]
set format y '10^{%L}'
set key top right
file = data . '/rest.tsv'
plot file using 1:2 with lines ls 1 title 'E = 10^5 Pa, c = 0', '' using 1:3 with lines ls 2 title 'c = 0.01', '' using 1:4 with lines ls 3 title 'E = 10^7 Pa, c = 0', '' using 1:5 with lines ls 4 title 'c = 0.01'
set title '(b) a ball on the floor: largest kinetic energy' . quick
set xlabel 'step, ms'
set ylabel 'over the start'
set logscale xy
set yrange [0.9:1e10]
set xrange [0.8:20]
set format x '%g'
set key top left
file = data . '/steps.tsv'
plot file using 1:2 with linespoints ls 1 title 'E = 10^5 Pa, 300 particles', '' using 1:3 with linespoints ls 2 title '2,400', '' using 1:4 with linespoints ls 3 title 'E = 10^7 Pa, 300', '' using 1:5 with linespoints ls 4 title '2,400', 1.3 with lines lw 1 dt 3 lc rgb 'gray40' title 'stable below'
unset logscale
set format y '%g'
set title '(c) two elastic cubes: closing speed' . quick
set xlabel 'time, s'
set ylabel 'over that at the start'
set yrange [*:*]
set xrange [0:*]
set key bottom left
file = data . '/cubes.tsv'
plot file using ($1 == 0 ? $2 : NaN):3 with lines ls 1 title 'XPBI', '' using ($1 == 1 ? $2 : NaN):3 with lines ls 2 title 'MPM'
set title '(d) pieces of a ball, with and without L_p' . quick
set xlabel 'matter and E, Pa'
set ylabel 'pieces and crumbs'
set style data histograms
set style histogram clustered gap 1
set boxwidth 0.9
set xrange [0.4:6.6] # the header is the row 0
set yrange [0:*]
set xtics font ',9'
set key top left
file = data . '/pieces.tsv'
plot file using 2:xtic(1) fill solid 0.85 lc rgb '#1b3a6b' title 'with', '' using 3 fill pattern 2 lc rgb '#c2571a' title 'without'
unset multiplot
