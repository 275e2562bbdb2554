load style
set output out . '/desbrun1996-fig2.png'
set terminal pngcairo size 1300,560 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.085,0.985,0.13,0.9 spacing 0.09,0.1
set xlabel 'r / h'
set xrange [-2.2:2.2]
set xzeroaxis lc rgb 'gray50' lw 0.7
set key top right
set title "(a) the paper's kernel on a line" . quick
set ylabel 'W h,  h^2 dW/dr'
plot data . '/kernel.tsv' using 1:2 with lines ls 1 title 'W h', \
     data . '/kernel.tsv' using (-$1):2 with lines ls 1 notitle, \
     data . '/kernel.tsv' using 1:3 with lines ls 2 title 'h^2 dW/dr', \
     data . '/kernel.tsv' using (-$1):(-$3) with lines ls 2 notitle
set title "(b) the paper's kernel in space"
set ylabel 'W h^3,  h^4 dW/dr'
plot data . '/kernel.tsv' using 1:4 with lines ls 1 title 'W h^3', \
     data . '/kernel.tsv' using (-$1):4 with lines ls 1 notitle, \
     data . '/kernel.tsv' using 1:5 with lines ls 2 title 'h^4 dW/dr', \
     data . '/kernel.tsv' using (-$1):(-$5) with lines ls 2 notitle
unset multiplot
