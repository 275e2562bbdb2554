load style
set output out . '/yu2024-fig9.png'
set terminal pngcairo size 1500,760 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.08,0.98,0.09,0.94 spacing 0.1,0.17
array name[3] = ['(a) implicit', '(b) semi-implicit', '(c) elastic']
set xlabel 'x, m'
set ylabel 'z, m'
set xrange [-0.22:0.22]
set yrange [0:0.14]
set ytics 0.05
unset key
do for [k=1:3] {
  set title name[k] . quick
  plot data . '/slices.tsv' using ($1 == k - 1 ? $2 : NaN):3 with points pt 7 ps 0.9 lc rgb '#b8863b'
}
set title '(d) reach of 99 % of the mass over its start' . quick
set xlabel 'time, s'
set ylabel 'reach over the start'
set xrange [0:*]
set yrange [0.8:2.4]
set ytics auto
set key top right
plot for [k=1:3] data . '/spreads.tsv' using ($1 == k - 1 ? $2 : NaN):3 with lines ls k title substr(name[k], 5, 40)
unset multiplot
