load style
set output out . '/yu2024-fig13.png'
set terminal pngcairo size 1700,760 font 'DejaVu Sans,13'
set multiplot layout 2,4 margins 0.06,0.985,0.09,0.94 spacing 0.05,0.19
slices = data . '/slices.tsv'
nn = data . '/neighbours.tsv'
array name[3] = ['XPBD grains', 'MPM', 'XPBI']
array scene[2] = ['blocks', 'slab']
array colour[3] = ['#6b6b6b', '#c2571a', '#1b3a6b']
array dash[3] = [3, 2, 1]
do for [row=0:1] {
  do for [col=0:2] {
    set title scene[row + 1] . ': ' . name[col + 1] . quick
    set xlabel 'x, m'
    set ylabel (col == 0 ? 'z, m' : '')
    set size ratio -1
    unset key
    if (row == 0) { set xrange [-0.2:0.2]; set yrange [0:0.17]; set xtics 0.1 } else { set xrange [0:0.26]; set yrange [0:0.12]; set xtics 0.05 }
    set ytics 0.05
    plot slices using ($1 == row && $2 == col ? $3 : NaN):4 with points pt 7 ps (row == 0 ? 0.45 : 0.55) lc rgb '#b8863b'
  }
  set size noratio
  set title 'nearest distance over its start' . quick
  set xlabel 'time, s'
  set ylabel ''
  set xrange [0:*]
  set xtics auto
  set ytics auto
  set yrange [0.5:1.55]
  set key top right samplen 2
  set style fill transparent solid 0.18 noborder
  plot for [k=1:3] nn using ($1 == row && $2 == k - 1 ? $3 : NaN):($4 - $5):($4 + $5) with filledcurves lc rgb colour[k] notitle, \
       for [k=1:3] nn using ($1 == row && $2 == k - 1 ? $3 : NaN):4 with lines lw 2 dt dash[k] lc rgb colour[k] title name[k]
}
unset multiplot
