load style
set output out . '/yu2024-fig7.png'
set terminal pngcairo size 1500,900 font 'DejaVu Sans,14'
set multiplot
stats data . '/names.tsv' every ::1 using 2 nooutput
duration = STATS_max
file = data . '/slices.tsv'
set size ratio -1
set xrange [-0.42:1.0]
set yrange [0:0.34]
set ytics 0.1
unset key
do for [k=0:3] {
  set lmargin at screen 0.065 + 0.49 * (k % 2)
  set rmargin at screen 0.485 + 0.49 * (k % 2)
  set tmargin at screen 0.95 - 0.25 * (k / 2)
  set bmargin at screen 0.76 - 0.25 * (k / 2)
  set title sprintf('(%s) %.2f s', substr('abcd', k + 1, k + 1), duration * k / 3) . quick offset 0,-0.6
  set ylabel 'z, m' offset 0.5,0
  if (k > 1) { set xlabel 'x, m' offset 0,0.5 }
  plot file using ($1==k && $2==1 ? $3 : NaN):4 with points pt 6 ps 1 lc rgb '#6aaed6', \
       file using ($1==k && $2==0 ? $3 : NaN):4 with points pt 7 ps 1 lc rgb '#6b4a1f'
}
set size noratio
unset xrange
unset yrange
set ytics auto
stats data . '/names.tsv' every ::1::1 using 1 nooutput
coarse = sprintf('%.0f particles', STATS_min)
stats data . '/names.tsv' using 1 nooutput
fine = sprintf('%.0f particles', STATS_max)
set tmargin at screen 0.39
set bmargin at screen 0.09
set lmargin at screen 0.065
set rmargin at screen 0.47
set title '(e) by distance from the surface of the sand' . quick
set xlabel 'spacings' offset 0,0.3
set ylabel 'share' offset 1,0
set xrange [0:6]
set yrange [0:1]
set key top right
file = data . '/exchange.tsv'
plot file using 1:2 with linespoints ls 1 dt 1 title 'impulses, ' . coarse, file using 1:3 with linespoints ls 2 dt 1 title 'impulses, ' . fine, \
     file using 1:4 with linespoints ls 1 dt 2 title 'sand, ' . coarse, file using 1:5 with linespoints ls 2 dt 2 title 'sand, ' . fine
set lmargin at screen 0.55
set rmargin at screen 0.97
set title '(f) across the dam, and its crest in the notch' . quick
set xlabel 'time, s' offset 0,0.3
set ylabel 'share; height over the dam''s' offset 1,0
set xrange [0:*]
set yrange [0:1.6]
set key top right maxrows 4 samplen 2
file = data . '/run.tsv'
plot file using 1:6 with lines ls 5 title 'crest, ' . coarse, file using 1:7 with lines ls 6 title 'crest, ' . fine, \
     file using 1:2 with lines ls 1 title 'water, ' . coarse, file using 1:3 with lines ls 2 title 'water, ' . fine, \
     file using 1:4 with lines ls 3 title 'sand, ' . coarse, file using 1:5 with lines ls 4 title 'sand, ' . fine, \
     data . '/whole.tsv' using 1:2 with lines lw 2 lc rgb 'gray50' title 'water, no notch'
unset multiplot
