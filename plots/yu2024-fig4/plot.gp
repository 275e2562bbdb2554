load style
set output out . '/yu2024-fig4.png'
set terminal pngcairo size 1500,820 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.075,0.98,0.09,0.94 spacing 0.09,0.16
array power[3] = [0.3, 1, 3]
array name[3] = ['h = 0.3', 'h = 1', 'h = 3']
set xlabel 'x, m'
set ylabel 'z, m'
set xrange [-0.4:0.4]
set yrange [0:0.3]
set xtics 0.1
set ytics 0.1
unset key
do for [k=1:3] {
  set title name[k] . ', at the end' . quick
  plot data . '/slices.tsv' using ($1 == power[k] ? $2 : NaN):3 with points pt 7 ps 0.8 lc rgb '#7a8f5a'
}
set title 'height of the centre of mass' . quick
set xlabel 'time, s'
set ylabel 'm'
set xrange [0:*]
set yrange [0:*]
set xtics auto
set ytics auto
set key top right
plot for [k=1:3] data . '/heights.tsv' using ($1 == power[k] ? $2 : NaN):3 with lines ls k title name[k]
unset multiplot
