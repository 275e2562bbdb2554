load style
set output out . '/yu2024-fig20.png'
set terminal pngcairo size 1600,480 font 'DejaVu Sans,13'
set multiplot layout 1,3 margins 0.05,0.985,0.15,0.9 spacing 0.07,0.1
array when[2] = ['(a) half way, slice at y = 0', '(b) at the end']
set xlabel 'x, m'
set ylabel 'z, m'
set xrange [-0.11:0.11]
set yrange [0:0.12]
set xtics 0.05
set ytics 0.02
unset key
do for [k=1:2] {
  set title when[k] . quick
  plot data . '/slices.tsv' using ($1 == k - 1 ? $2 : NaN):3 with points pt 7 ps 0.8 lc rgb '#4f7fa8'
}
set title '(c) time of a frame of 1/100 s' . quick
set xlabel 'particles'
set ylabel 's' offset 1
set logscale xy
set xrange [1000:40000]
set yrange [0.005:30]
set xtics auto
set ytics auto
set format x '10^{%L}'
set format y '10^{%L}'
set key top left Left reverse
set label 1 'RTX 4090, 0.015 s (table)' at 17500,0.0175 right font ',11'
set label 2 '0.033 s (caption)' at 17500,0.037 right font ',11'
plot data . '/frames.tsv' using 1:2 with linespoints ls 1 title 'Jacobi, a CPU thread', '' using 1:3 with linespoints ls 2 title 'Gauss-Seidel', \
     '+' using (20000):(0.015) every ::0::0 with points pt 4 ps 1.4 lc rgb 'black' notitle, '+' using (20000):(0.0333) every ::0::0 with points pt 6 ps 1.4 lc rgb 'black' notitle, \
     0.01 with lines lw 1 dt 3 lc rgb 'gray40' title 'real time'
unset multiplot
