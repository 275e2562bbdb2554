load style
set output out . '/rodero2016-fig5.png'
set xlabel "Poisson's ratio ν"
set ylabel 'relative error of the fit, ‖K_{PBD} − K_{FEM}‖ / ‖K_{FEM}‖'
set xrange [0:0.5]
set yrange [0:0.8]
set key top center
set arrow 1 from 0.29, graph 0 to 0.29, graph 1 nohead lc rgb 'gray50' dt 3
set label 1 'paper: the curves part at 0.29' at 0.285, graph 0.06 right textcolor rgb 'gray30'
set arrow 2 from 0, 0.2 to 0.5, 0.2 nohead lc rgb 'gray50' dt 3
set label 2 'paper: "always over 20 %"' at 0.01, 0.185 textcolor rgb 'gray30'
plot data . '/errors.tsv' using 1:2 with lines ls 1 title 'with volume constraint (R-7, returns the printed polynomials)', \
     data . '/errors.tsv' using 1:3 with lines ls 2 title 'without', \
     data . '/splits.tsv' using 1:2 with lines ls 3 title 'with, one split of the faces', \
     data . '/splits.tsv' using 1:3 with lines ls 4 title 'with, averaged gradient'
