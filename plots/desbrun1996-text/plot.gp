load style
set output out . '/desbrun1996-text.png'
set terminal pngcairo size 1300,1000 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.085,0.985,0.075,0.955 spacing 0.095,0.135

set title '(a) volume of a drop that starts at 0.9 of its size'
set xlabel 'time, s'
set ylabel 'volume / volume at rest'
set xrange [0:15]
set key bottom right
plot data . '/volume.tsv' using 1:2 with lines ls 1 title 'k = 2.5 m²/s²', '' using 1:3 with lines ls 2 title 'k = 10 m²/s²', \
     '' using 1:4 with lines ls 3 title 'k = 40 m²/s²', 1 with lines lc rgb 'gray30' dt 3 notitle

set title '(b) first time at which the volume is met'
set xlabel 'k, m²/s²'
set ylabel 'time, s'
set logscale xy
set xrange [2:50]
set yrange [0.5:5]
set ytics (0.5, 1, 2, 4)
set xtics (2.5, 10, 40)
set key top right
plot data . '/back.tsv' using 1:2 with linespoints ls 1 title 'first time', 2.8 * sqrt(2.5 / x) with lines lc rgb 'gray30' dt 3 title '1/√k'

set title '(c) error of a smoothed value: cos x at 0'
set xlabel 'h, m'
set ylabel 'error'
set xrange [0.05:0.6]
set yrange [1e-4:0.1]
set xtics ('1/16' 0.0625, '1/8' 0.125, '1/4' 0.25, '1/2' 0.5)
set ytics autofreq
set format y '10^{%T}'
set key top left reverse Left
plot data . '/smoothing.tsv' using 1:2 with linespoints ls 1 title "the paper's kernel, on a line", '' using 1:3 with linespoints ls 2 title "the paper's kernel, in space", \
     '' using 1:4 with linespoints ls 3 title 'cubic spline, on a line', '' using 1:5 with linespoints ls 4 title 'cubic spline, in space', \
     0.05 * x * x with lines lc rgb 'gray30' dt 3 title 'h²'

set title '(d) longest fixed step that stays stable'
set xlabel 'particles in 10 m × 10 m'
set ylabel 'step, s'
set format y '%g'
set xrange [25:800]
set yrange [0.05:0.5]
set xtics (36, 144, 576)
set ytics (0.05, 0.1, 0.2, 0.4)
set key top right noreverse Right
plot data . '/stable.tsv' using 1:2 with linespoints ls 1 title 'longest step', 0.28 * sqrt(36 / x) with lines lc rgb 'gray30' dt 3 title 'h'
unset multiplot
