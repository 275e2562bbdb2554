load style
set output out . '/yu2024-fig14.png'
set terminal pngcairo size 1500,980 font 'DejaVu Sans,14'
set multiplot layout 2,3 margins 0.085,0.985,0.075,0.95 spacing 0.075,0.13
moduli = '10^4 10^5 10^6'
set logscale y
set format y '10^{%L}'
set yrange [1e-13:30]
set xlabel 'iterations'
do for [k=1:3] {
  set title sprintf('(%s) E = %s Pa', word('a b c', k), word(moduli, k)) . quick
  set ylabel (k == 1 ? 'residual over the first' : '')
  if (k == 1) { set key top right } else { unset key }
  plot data . '/gauss_seidel.tsv' using 1:1+k with lines ls 1 title 'xpbi, coloured Gauss-Seidel', \
       data . '/jacobi.tsv' using 1:1+k with lines ls 2 title 'xpbi, Jacobi', \
       data . '/newton.tsv' using 1:1+k with linespoints ls 3 title 'FEM, Newton'
}
set title '(d) against time' . quick
set logscale x
set format x '10^{%L}'
set xlabel 'time in iterations, s'
set ylabel 'residual over the first'
set xrange [5e-4:3]
set key at screen 0.93,0.42 vertical maxrows 6
plot data . '/gauss_seidel.tsv' using ($5 > 1e-5 ? $5 : NaN):2 with lines ls 1 dt 1 title 'Gauss-Seidel, 10^4', '' using ($7 > 1e-5 ? $7 : NaN):4 with lines ls 1 dt 3 title '10^6', \
     data . '/jacobi.tsv' using ($5 > 1e-5 ? $5 : NaN):2 with lines ls 2 dt 1 title 'Jacobi, 10^4', '' using ($7 > 1e-5 ? $7 : NaN):4 with lines ls 2 dt 3 title '10^6', \
     data . '/newton.tsv' using ($5 > 1e-5 ? $5 : NaN):2 with linespoints ls 3 dt 1 title 'FEM, 10^4', '' using ($7 > 1e-5 ? $7 : NaN):4 with linespoints ls 3 dt 3 title '10^6'
unset logscale
set format '%g'
set title '(e) at rest; circles: Poisson disks, 9.81 m/s²' . quick
set xlabel 'particles across'
set ylabel 'tip over that of FEM'
set yrange [0.8:*]
set xrange [3:9]
disks = data . '/disks.tsv'
array colour[3] = ['#1b3a6b', '#c2571a', '#2e7d32']
set key inside top left Left reverse
plot 1 with lines lc rgb 'gray40' lw 0.8 dt 3 notitle, data . '/tips.tsv' using 1:2 with linespoints ls 1 title 'E = 10^4', '' using 1:3 with linespoints ls 2 title 'E = 10^5', '' using 1:4 with linespoints ls 3 title 'E = 10^6', \
     for [k=1:3] disks using ($2 == k && $3 == 0 ? $1 : NaN):4 with points pt 6 ps 1.6 lw 2 lc rgb colour[k] notitle, \
     for [k=1:3] disks using ($2 == k && $3 == 1 ? $1 : NaN):4 with points pt 7 ps 1.6 lc rgb colour[k] notitle
unset multiplot
