load style
set output out . '/yu2024-fig19.png'
set terminal pngcairo size 1500,1250 font 'DejaVu Sans,14'
set multiplot layout 3,3 margins 0.07,0.98,0.06,0.96 spacing 0.08,0.1
array name[6] = ['Gissler 2020, fine step', 'Gissler 2020, coarse step', 'XPBI, flow inside, fine step', 'XPBI, flow inside, coarse step', \
                 'XPBI, flow after, fine step', 'XPBI, flow after, coarse step']
do for [row=0:2] {
  set xlabel 'x, m'
  set ylabel 'z, m'
  set xrange [-0.3:0.3]
  set yrange [0:0.25]
  set xtics 0.1
  set ytics 0.05
  unset key
  do for [col=1:2] {
    set title name[2 * row + col] . quick
    plot data . '/slices.tsv' using ($1 == 2 * row + col - 1 ? $2 : NaN):3 with points pt 7 ps 0.9 lc rgb '#6f8fb0'
  }
  set title 'the largest piece' . quick
  set xlabel 'time, s'
  set ylabel 'height over the diameter'
  set xrange [0:*]
  set yrange [0:1.3]
  set xtics 0.05
  set ytics auto
  set key bottom right
  plot for [col=1:2] data . '/heights.tsv' using ($1 == 2 * row + col - 1 ? $2 : NaN):3 with lines ls col title name[2 * row + col]
}
unset multiplot
