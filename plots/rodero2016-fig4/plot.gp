load style
set output out . '/rodero2016-fig4.png'
set terminal pngcairo size 1400,1000 font 'DejaVu Sans,14'
set multiplot layout 2,2
set xlabel "Poisson's ratio ν"
set xrange [0:0.5]
array names[4] = ['edges k_e', 'face diagonals k_f', 'inner diagonals k_d', 'volume k_v']
set key top right
do for [i=1:4] {
    set title names[i]
    set ylabel 'stiffness k'
    set key at graph (i == 4 ? 0.5 : i == 1 ? 0.65 : 0.62), graph (i == 4 ? 0.95 : 0.3)
    plot data . '/printed.tsv' using 1:(column(i+1)) with lines ls 1 title 'printed polynomial', \
         data . '/fitted.tsv' using 1:(column(i+1)) with points ls 2 pt 2 title 'our fit'
}
unset multiplot
