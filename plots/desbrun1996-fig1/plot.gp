load style
set output out . '/desbrun1996-fig1.png'
set terminal pngcairo size 900,600 font 'DejaVu Sans,14'
set title 'Cubic spline and its derivative, in one dimension' . quick
set xlabel 'r / h'
set ylabel 'W h,  h^2 dW/dr'
set xrange [-2.2:2.2]
set xzeroaxis lc rgb 'gray50' lw 0.7
set key top right
plot data . '/kernel.tsv' using 1:2 with lines ls 1 title 'W h', \
     data . '/kernel.tsv' using (-$1):2 with lines ls 1 notitle, \
     data . '/kernel.tsv' using 1:3 with lines ls 2 title 'h^2 dW/dr', \
     data . '/kernel.tsv' using (-$1):(-$3) with lines ls 2 notitle, \
     data . '/kernel.tsv' using 1:($2 * 3 / (2 * pi)) with lines ls 4 title 'W h as printed (D-1)', \
     data . '/kernel.tsv' using (-$1):($2 * 3 / (2 * pi)) with lines ls 4 notitle
