load style
set output out . '/rivals-convergence.png'
set terminal pngcairo size 1400,1120 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.085,0.985,0.065,0.955 spacing 0.09,0.125
set style line 7 lc rgb '#b8a000' lw 2.4 pt 13 ps 1.2 dt 1
set logscale xy
set format y '10^{%T}'
set title '(a) E = 1e6 Pa, ν = 0.3, h = 1/240 s, in swing'
set xlabel 'iterations'
set ylabel 'of the step that is left, |x_k − x*| / |x* − x_n|'
set xrange [1:1000]
set yrange [1e-6:1e5]
set ytics 1e-6, 100, 1
set key inside top left maxrows 4
plot 0.01 with lines lc rgb 'gray60' dt 3 notitle, \
     data . '/plain.tsv' using 1:2 with lines ls 1 title 'VBD', data . '/anderson.tsv' using 1:2 with lines ls 3 title 'VBD, Anderson', \
     data . '/root.tsv' using 1:2 with lines ls 2 title 'XPBD √(2Ψ)', data . '/six.tsv' using 1:2 with lines ls 4 title 'six strains (StVK)', \
     data . '/quasi.tsv' using 1:2 with lines ls 5 title 'quasi-Newton', data . '/pd.tsv' using 1:2 with lines ls 6 title 'projective', \
     data . '/admm.tsv' using 1:2 with lines ls 7 title 'ADMM'

set ylabel 'iterations to 1 %'
set format y '%g'
set yrange [0.8:1e6]
set ytics (1, 10, 100, 'never' 1500)
set title '(b) first step, against the modulus, ν = 0.3, h = 1/240 s'
set xlabel 'E, Pa'
set format x '10^{%T}'
set xrange [5e3:2e8]
set key inside top left maxrows 4
plot data . '/by_modulus.tsv' using 1:2 with linespoints ls 1 title 'VBD', '' using 1:3 with linespoints ls 3 title 'VBD, Anderson', \
     '' using 1:4 with linespoints ls 2 title 'XPBD √(2Ψ)', '' using 1:5 with linespoints ls 4 title 'six strains', \
     data . '/factor_by_modulus.tsv' using 1:2 with linespoints ls 5 title 'quasi-Newton', '' using 1:3 with linespoints ls 6 title 'projective', \
     '' using 1:4 with linespoints ls 7 title 'ADMM'

set title "(c) first step, against Poisson's ratio, E = 1e6 Pa, h = 1/240 s"
unset logscale x
set format x '%g'
set xlabel 'ν'
set xrange [0.28:0.51]
plot data . '/by_ratio.tsv' using 1:2 with linespoints ls 1 title 'VBD', '' using 1:3 with linespoints ls 3 title 'VBD, Anderson', \
     '' using 1:4 with linespoints ls 2 title 'XPBD √(2Ψ)', '' using 1:5 with linespoints ls 4 title 'six strains', \
     data . '/factor_by_ratio.tsv' using 1:2 with linespoints ls 5 title 'quasi-Newton', '' using 1:3 with linespoints ls 6 title 'projective', \
     '' using 1:4 with linespoints ls 7 title 'ADMM'

set title '(d) first step, left after 1000 iterations of XPBD, ν = 0.3'
set logscale x
set format x '10^{%T}'
set xrange [5e3:2e8]
set xlabel 'E, Pa'
set ylabel 'of the step that is left'
set ytics auto
set format y '10^{%T}'
set yrange [1e-6:1e5]
set key inside top left maxrows 2 width -2
plot 0.01 with lines lc rgb 'gray60' dt 3 notitle, \
     data . '/left.tsv' using 1:2 with linespoints ls 2 title '√(2Ψ), 1/240 s', '' using 1:4 with linespoints ls 5 title '√(2Ψ), 1/60 s', \
     '' using 1:3 with linespoints ls 4 title 'six strains, 1/240 s', '' using 1:5 with linespoints ls 3 title 'six strains, 1/60 s'
unset multiplot
