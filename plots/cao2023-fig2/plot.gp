load style
set output out . '/cao2023-fig2.png'
set terminal pngcairo size 1300,1000 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.075,0.98,0.075,0.95 spacing 0.085,0.14
set xrange [-1:2]
set yrange [-4:4]
set xzeroaxis lc rgb 'gray50' lw 0.7
set arrow 9 from 0, graph 0 to 0, graph 1 nohead lc rgb 'gray50' lw 0.7 dt 3
set xlabel 'stretch along x (below 0: inside out)'
set ylabel 'nominal stress / E'
set key top left reverse Left
limit = 1 / sqrt(3)

set arrow 1 from 0.9, -1.75 to limit + 0.02, -0.5 head filled size 0.05,20 lc rgb 'gray30'
set label 1 'largest resistance at 1/√3' at 0.75, -2.1 textcolor rgb 'gray30'
set title '(a) StVK'
plot data . '/stvk.tsv' using 1:2 with lines ls 1 title 'StVK', \
     data . '/corotated.tsv' using 1:2 with lines ls 5 title 'corotated, for scale'
unset arrow 1
unset label 1

set title '(b) StVK joined with corotated below 1/√3'
plot data . '/stvk_printed.tsv' using 1:2 with lines ls 1 title 'switched, as printed', \
     data . '/stvk_continuous.tsv' using 1:2 with lines ls 2 title 'continued, own slope', \
     data . '/stvk_shifted.tsv' using 1:2 with lines ls 3 title 'continued, corotated slope'

set title '(c) Neo-Hookean'
set label 2 "no energy for\ninverted states" at -0.5, -0.6 center textcolor rgb 'gray30'
plot data . '/neo_hookean.tsv' using 1:2 with lines ls 1 title 'Neo-Hookean', \
     data . '/corotated.tsv' using 1:2 with lines ls 5 title 'corotated, for scale'
unset label 2

set title '(d) Neo-Hookean joined with corotated'
plot data . '/neo_hookean_printed.tsv' using 1:($1 > 1e-9 ? $2 : NaN) with lines ls 1 title 'switched at 0, as printed', \
     data . '/neo_hookean_printed.tsv' using 1:($1 > 1e-9 ? NaN : $2) with lines ls 1 notitle, \
     data . '/neo_hookean_continuous.tsv' using 1:2 with lines ls 2 title 'continued below 1/√3, own slope', \
     data . '/neo_hookean_shifted.tsv' using 1:2 with lines ls 3 title 'continued, corotated slope'
unset multiplot
