load style
set output out . '/yu2024-fig11.png'
set terminal pngcairo size 1500,760 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.085,0.98,0.09,0.94 spacing 0.11,0.18
array name[2] = ['with position correction', 'without']
set xlabel 'x, m'
set ylabel 'z, m'
set xrange [-0.18:0.18]
set yrange [0:0.05]
set ytics 0.02
unset key
do for [k=1:2] {
  set title name[k] . ', E = 7·10^{10} Pa' . quick
  plot data . '/slices.tsv' using ($1 == k - 1 ? $2 : NaN):3 with points pt 7 ps 0.9 lc rgb '#5a6b7b'
}
set xlabel 'time, s'
set xrange [0:*]
set ytics auto
set key bottom left
set title 'mean of the nearest distance' . quick
set ylabel 'spacings'
set yrange [0.6:1.05]
plot for [k=1:2] data . '/neighbours.tsv' using ($1 == k - 1 ? $2 : NaN):3 with lines ls k title name[k]
set title 'its standard deviation' . quick
set yrange [0:*]
set key top left
plot for [k=1:2] data . '/neighbours.tsv' using ($1 == k - 1 ? $2 : NaN):4 with lines ls k title name[k]
unset multiplot
