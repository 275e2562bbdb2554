load style
set output out . '/yu2024-fig3.png'
set terminal pngcairo size 1500,860 font 'DejaVu Sans,14'
stats data . '/names.tsv' using 1 nooutput
coarse = STATS_min
stats data . '/names.tsv' using 2 nooutput
fine = STATS_min
stats data . '/names.tsv' using 3 nooutput
last = int(STATS_min) - 1
array time[4]
do for [k=1:4] { stats data . '/cloth.tsv' using ($1 == k ? $2 : NaN) nooutput; time[k] = STATS_max }
set multiplot layout 2,3 margins 0.06,0.98,0.09,0.94 spacing 0.07,0.15
array letter[4] = ['(a)', '(b)', '(c)', '(d)']
set xlabel 'x, m'
set ylabel 'z, m' offset 1,0
set xrange [-0.42:0.42]
set yrange [-0.36:0.34]
set xtics 0.2
set ytics 0.1
set size ratio -1
unset key
do for [k=1:4] {
  set title sprintf('%s t = %.3g s', letter[k], time[k]) . quick
  plot data . '/paint.tsv' using ($1 == k ? $3 : NaN):4 with points pt 7 ps 0.5 lc rgb '#d99a4e', \
       data . '/cloth.tsv' using ($1 == k ? $3 : NaN):4 with lines ls 1 lw 3
}
set size noratio
set title '(e) lowest point of the cloth' . quick
set xlabel 'time, s'
set ylabel 'm' offset 1,0
set xrange [0:*]
set yrange [0:*]
set xtics auto
set ytics auto
set key top left Left reverse
plot data . '/sags.tsv' using ($1 == 0 ? $2 : NaN):3 with lines ls 1 title sprintf('%.0f particles', coarse), \
     data . '/sags.tsv' using ($1 == 1 ? $2 : NaN):3 with lines ls 2 title sprintf('%.0f particles', fine)
set title sprintf('(f) the end, %.0f particles', fine) . quick
unset key
unset xlabel
unset ylabel
unset tics
unset border
unset grid
set xrange [-0.42:0.42]
set yrange [-0.42:0.42]
set zrange [-0.25:0.15]
set view equal xyz
set view 62,28,1.25
set palette defined (0 '#8a5518', 1 '#f2c58b')
unset colorbox
set lmargin at screen 0.7
set rmargin at screen 0.99
set bmargin at screen 0.06
set tmargin at screen 0.44
splot for [k=0:last] data . '/cloth_end.tsv' using ($1 == k ? $2 : NaN):3:4 with lines lc rgb '#5b7aa8' lw 0.7, \
      for [k=0:last] data . '/cloth_across.tsv' using ($1 == k ? $2 : NaN):3:4 with lines lc rgb '#5b7aa8' lw 0.7, \
      data . '/paint_end.tsv' using 1:2:3:3 with points pt 7 ps 0.35 lc palette
unset multiplot
