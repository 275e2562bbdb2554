load style
set output out . '/rivals-momenta.png'
set terminal pngcairo size 1500,1100 font 'DejaVu Sans,14'
set multiplot layout 2,3 margins 0.08,0.985,0.075,0.955 spacing 0.075,0.115
of(s, E, c) = (strcol(1) eq s && column(2) == E) ? column(c) : NaN
solvers = 'vbd newton root six'
title(solver) = solver eq 'vbd' ? 'VBD' : solver eq 'newton' ? 'quasi-Newton' : solver eq 'root' ? 'XPBD √(2Ψ)' : 'XPBD, six strains'
style(k) = k == 1 ? 1 : k == 2 ? 3 : k == 3 ? 2 : 4
file = data . '/all.tsv'
set logscale x
set xrange [0.9:250]
do for [power = 5:6] {
    E = 10.0 ** power
    set xlabel 'iterations in a step of 5 ms'
    set logscale y
    set ytics auto
    set format y '10^{%T}'
    set yrange [1e-18:1]
    set key at graph 0.03,0.62 left top Left reverse
    set title sprintf('(a) speed of the centre, E = 1e%d Pa', power)
    set ylabel 'over the speed of the ends'
    plot for [k=1:4] file using (of(word(solvers, k), E, 3)):(of(word(solvers, k), E, 4)) \
        with linespoints ls style(k) title title(word(solvers, k))
    set yrange [1e-9:1]
    unset key
    set title '(b) angular momentum, from implicit Euler''s'
    set ylabel 'relative distance'
    plot for [k=1:4] file using (of(word(solvers, k), E, 3)):(of(word(solvers, k), E, 5)) \
        with linespoints ls style(k) notitle
    set format y '%g'
    set yrange [0.5:8]
    set ytics (0.5, 0.7, 1, 2, 5)
    set title '(c) energy that is left'
    set ylabel 'of that at the start'
    set key at graph 0.97,0.97 right top Right noreverse
    plot for [k=1:4] file using (of(word(solvers, k), E, 3)):(of(word(solvers, k), E, 6)) \
        with linespoints ls style(k) notitle, \
        file using (of('vbd', E, 3)):(of('vbd', E, 7)) with lines lc rgb 'gray50' dt 3 title 'implicit Euler, solved'
}
unset multiplot
