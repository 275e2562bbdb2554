load style
set output out . '/cao2023-fig1.png'
set terminal pngcairo size 1500,560 font 'DejaVu Sans,13'
set multiplot layout 1,3 margins 0.02,0.98,0.06,0.82 spacing 0.03,0.1
unset border
unset tics
unset grid
set size ratio -1
file = data . '/layers.tsv'
stats file using ($3 > 0 ? $1 : NaN) nooutput
apart = 2 * STATS_max + 1.4
set title '(a) two layers that collide, d = r_i + r_j' . quick
set key at screen 0.335,0.97 top right maxrows 1
set xrange [-STATS_max - 1.5 : apart + STATS_max + 1.5]
set yrange [-STATS_max - 4 : STATS_max + 4]
set style fill transparent solid 0.55 border lc rgb 'gray30'
set arrow 1 from STATS_max,0 to apart - STATS_max,0 heads size 0.5,25 lc rgb 'black' lw 1.6 front
plot for [k=0:1] file using ($1 + k * apart):($3 == 0 ? $2 : NaN) with points pt 7 ps 0.4 lc rgb 'gray55' notitle, \
     file using 1:($3 == 1 ? $2 : NaN):(0.7) with circles lc rgb '#c2571a' title 'first layer', \
     file using ($1 + apart):($3 == 1 ? $2 : NaN):(0.7) with circles lc rgb '#c2571a' notitle, \
     file using 1:($3 == 2 ? $2 : NaN):(0.7) with circles lc rgb '#7da2d6' title 'second', \
     file using ($1 + apart):($3 == 2 ? $2 : NaN):(0.7) with circles lc rgb '#7da2d6' notitle
unset arrow 1
near = data . '/neighbours.tsv'
set xrange [-4.8:4.8]
set yrange [-4.8:4.8]
set object 1 circle at 0,0 size 2.6 fs empty border lc rgb 'gray40' dt 2
do for [cut=0:1] {
  set title (cut ? '(c) after the cut' : '(b) neighbours before the cut') . quick
  set key at screen (cut ? 0.998 : 0.66),0.97 top right maxrows 1 samplen 1
  if (cut) { set arrow 2 from 0.5,-4.6 to 0.5,4.6 nohead lc rgb '#c0392b' lw 4 }
  plot near using ($3 == 4 || (!cut && $3 == 3) ? $1 : NaN):2 with points pt 7 ps 1 lc rgb 'gray80' notitle, \
       near using ($3 == 1 || (!cut && $3 == 2) ? $1 : NaN):2:(-$1):(-$2) with vectors nohead lc rgb '#7da2d6' lw 1.4 notitle, \
       near using (cut && $3 == 2 ? $1 : NaN):2 with points pt 7 ps 1.5 lc rgb 'gray55' title (cut ? 'parted' : ''), \
       near using (cut && $3 == 3 ? $1 : NaN):2:(-$1):(-$2) with vectors nohead lc rgb '#2e7d4f' lw 2 notitle, \
       near using ($3 == 1 || (!cut && $3 == 2) ? $1 : NaN):2 with points pt 7 ps 1.5 lc rgb '#1b3a6b' title 'neighbours', \
       near using (cut && $3 == 3 ? $1 : NaN):2 with points pt 7 ps 1.8 lc rgb '#2e7d4f' title (cut ? 'added' : ''), \
       near using ($3 == 0 ? $1 : NaN):2 with points pt 7 ps 2.2 lc rgb 'black' notitle
}
unset multiplot
