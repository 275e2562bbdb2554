load style
set output out . '/cao2023-fig13.png'
set terminal pngcairo size 1400,620 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.09,0.98,0.13,0.9 spacing 0.1,0.1
file = data . '/bounces.tsv'
array name[4] = ['corrected SPH', 'MLSRK, linear basis', 'MLSRK, constant basis', 'tetrahedra']
array colour[4] = ['#1b3a6b', '#c0392b', '#e08e45', 'gray60']
set xlabel 'v0, m/s'
set xrange [0:85]
set title '(a) distance from the shape at rest, at the end' . quick
set ylabel 'rest shape error'
set yrange [0:*]
unset key
plot for [k=1:4] file using ($1 == k - 1 ? $2 : NaN):3 with linespoints pt 6 ps 1.4 lc rgb colour[k] notitle, \
     for [k=1:4] file using ($1 == k - 1 && $5 == 1 ? $2 : NaN):3 with points pt 7 ps 1.4 lc rgb colour[k] notitle
set title '(b) inside out at the end' . quick
set ylabel 'share of the tetrahedra'
set key top left Left reverse
plot for [k=1:4] file using ($1 == k - 1 ? $2 : NaN):4 with linespoints pt 6 ps 1.4 lc rgb colour[k] title name[k], \
     for [k=1:4] file using ($1 == k - 1 && $5 == 1 ? $2 : NaN):4 with points pt 7 ps 1.4 lc rgb colour[k] notitle
unset multiplot
