load style
set output out . '/yu2024-fig6.png'
set terminal pngcairo size 1500,560 font 'DejaVu Sans,13'
set multiplot
file = data . '/cube.tsv'
array when[3] = ['start', 't^n', 't^{n+1}']
set lmargin at screen 0.02
set rmargin at screen 0.64
set bmargin at screen 0.05
set tmargin at screen 0.9
unset border
unset tics
unset grid
set size ratio -1
set title '(a) the cube at three times; the square of one particle under F' . quick
set xrange [-7:33]
set yrange [-7:8.5]
unset key
array shear[3]
do for [k=1:3] {
  stats file using ($1 == k - 1 ? $5 : NaN) nooutput
  shear[k] = STATS_max
  stats file using ($1 == k - 1 && $4 == 2 ? $2 : NaN):($1 == k - 1 && $4 == 2 ? $3 : NaN) nooutput
  X = STATS_max_x + 13 * (k - 1)
  Z = STATS_max_y
  set object k polygon from X - 1 - shear[k], Z - 1 to X + 1 - shear[k], Z - 1 to X + 1 + shear[k], Z + 1 to X - 1 + shear[k], Z + 1 to X - 1 - shear[k], Z - 1 \
      fs empty border lc rgb '#c0392b' lw 2.5 front
  set label k when[k] at 13 * (k - 1), -6 center
}
set arrow 1 from 5.8,7 to 8.4,7 filled lc rgb 'gray30' lw 2
set label 4 'F^n' at 7.1,7.9 center
set arrow 2 from 18.8,7 to 21.4,7 filled lc rgb 'gray30' lw 2
set label 5 'I + Δt ∇v' at 20.1,7.9 center
plot file using ($4 == 0 ? $2 + 13 * $1 : NaN):3 with points pt 7 ps 0.6 lc rgb 'gray75', \
     file using ($4 == 1 && $1 > 0 ? $2 + 13 * $1 : NaN):3 with points pt 7 ps 1 lc rgb '#1b3a6b', \
     file using ($4 == 1 && $1 == 0 ? $2 : NaN):3 with points pt 7 ps 0.6 lc rgb 'gray75', \
     file using ($4 == 2 ? $2 + 13 * $1 : NaN):3 with points pt 7 ps 1.4 lc rgb '#c0392b'
unset object
unset label
unset arrow
set lmargin at screen 0.72
set rmargin at screen 0.98
set bmargin at screen 0.13
set border 3
set grid
set size noratio
set title '(b) the loop of one step' . quick
set xlabel 'iteration'
set ylabel 'residual over the first'
set logscale y
set format y '10^{%L}'
set xrange [0:*]
set yrange [*:2]
set xtics nomirror
set ytics nomirror
set key top right
loop = data . '/loop.tsv'
plot loop using ($1 == 0 ? $2 : NaN):3 with linespoints ls 1 title 'von Mises', \
     loop using ($1 == 1 ? $2 : NaN):3 with linespoints ls 2 title 'elastic'
unset multiplot
