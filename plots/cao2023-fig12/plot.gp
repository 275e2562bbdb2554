load style
set output out . '/cao2023-fig12.png'
set terminal pngcairo size 1500,980 font 'DejaVu Sans,14'
set multiplot
set xrange [0:180]
set xtics 30
lattice = abs(0.9613370073771341 - 1) # the sum over a perfect lattice of -y dW/dx, poly6 that ends at 2.5 spacings, less 1
closed(x, k) = k == 0 ? 2 * sqrt(2.0 / 3) * sin(x * pi / 360) * lattice : lattice
stats data . '/displacement.tsv' using 3 nooutput
most = 1.15 * STATS_max
array form[2] = ['displacement', 'position']
do for [k=0:1] {
    file = data . '/' . form[k + 1] . '.tsv'
    set lmargin at screen 0.075 + 0.49 * k
    set rmargin at screen 0.495 + 0.49 * k
    set tmargin at screen 0.95
    set bmargin at screen 0.47
    unset xlabel
    set ylabel 'mean |F - R| / |R|'
    set yrange [0:most]
    set format y '%g'
    if (k == 0) { set key top left vertical reverse Left samplen 3 } else { unset key }
    set title sprintf('%s F from %ss: no gradient correction%s', k == 0 ? '(i)' : '(ii)', form[k + 1], quick)
    plot file using 1:3 with linespoints ls 1 title '(d) SPH-PBD, all', \
         '' using 1:5 with linespoints ls 2 title '(b) MLSRK constant, all', \
         '' using 1:2 with linespoints ls 1 pt 6 ps 1.4 dt 4 title '(d) inner', \
         '' using 1:4 with linespoints ls 2 pt 4 ps 1.6 dt 4 title '(b) inner', \
         closed(x, k) with lines lc rgb 'gray50' lw 1.2 title 'inner, perfect lattice: closed form'
    set tmargin at screen 0.37
    set bmargin at screen 0.08
    set xlabel 'angle, degrees'
    set ylabel 'mean |F - R| / |R|, in 10^{-16}'
    set yrange [0:14]
    if (k == 0) { set key top left horizontal reverse Left samplen 3 } else { unset key }
    set title sprintf('%s F from %ss: corrected, and the baseline%s', k == 0 ? '(iii)' : '(iv)', form[k + 1], quick)
    plot file using 1:($7 * 1e16) with linespoints ls 3 title '(a) CMLSRK', \
         '' using 1:($9 * 1e16) with points ls 4 ps 1.8 lw 2 pt 12 title '(c) CSPK-PBD', \
         '' using 1:($11 * 1e16) with linespoints ls 5 title 'MLSRK linear'
}
unset multiplot
