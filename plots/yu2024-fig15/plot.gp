load style
set output out . '/yu2024-fig15.png'
set terminal pngcairo size 1300,820 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.075,0.98,0.085,0.945 spacing 0.09,0.15
file = data . '/watch.tsv'
array scene[2] = ['two blocks collide', 'a slab slumps']
array name[3] = ['distance', 'density', 'off']
array colour[3] = ['#1b3a6b', '#c2571a', '#2e7d4f']
set xrange [0:*]
do for [col=0:1] {
  set title scene[col + 1] . quick
  set ylabel (col == 0 ? 'largest density over its start' : '')
  set xlabel ''
  set yrange [0.8:*]
  set key top left
  plot for [k=1:3] file using ($1 == col && $2 == k - 1 ? $3 : NaN):4 with lines ls k title name[k]
}
do for [col=0:1] {
  set title ''
  set ylabel (col == 0 ? 'nearest distance over its start' : '')
  set xlabel 'time, s'
  set yrange [0.5:1.2]
  set key bottom left
  set style fill transparent solid 0.16 noborder
  plot for [k=1:3] file using ($1 == col && $2 == k - 1 ? $3 : NaN):($5 - $6):($5 + $6) with filledcurves lc rgb colour[k] notitle, \
       for [k=1:3] file using ($1 == col && $2 == k - 1 ? $3 : NaN):5 with lines ls k title name[k]
}
unset multiplot
