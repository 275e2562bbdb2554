load style
set output out . '/rodero2016-fig3.png'
set terminal pngcairo size 1200,1300 font 'DejaVu Sans,15'
set multiplot layout 2,1
set xlabel "Poisson's ratio ν"
set ylabel 'fitted stiffness k'
set xrange [0:0.5]
set yrange [0:1]
set key top left
set title 'all four kinds of constraints'
array names[4] = ['edges k_e', 'face diagonals k_f', 'inner diagonals k_d', 'volume k_v']
set arrow 1 from 0.29, graph 0 to 0.29, graph 1 nohead lc rgb 'gray50' dt 3
set label 1 'paper: k_v sets in at 0.29' at 0.285, graph 0.55 right textcolor rgb 'gray30'
plot for [i=1:4] data . '/direct.tsv' using 1:(column(i+1)) with lines ls i title names[i], \
     for [i=1:4] data . '/search.tsv' using 1:(column(i+1)) every 2 with points ls i pt 2 ps 1 notitle, \
     NaN with points pt 2 ps 1 lc rgb 'black' title 'crosses: Nelder-Mead, as in the paper'
unset label 1
unset arrow 1
set yrange [0:0.25]
set title 'without the volume constraint (k_v = 0)'
plot for [i=1:3] data . '/direct_no_volume.tsv' using 1:(column(i+1)) with lines ls i title names[i], \
     for [i=1:3] data . '/search_no_volume.tsv' using 1:(column(i+1)) every 2 with points ls i pt 2 ps 1 notitle
unset multiplot
