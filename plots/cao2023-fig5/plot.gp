load style
set output out . '/cao2023-fig5.png'
set terminal pngcairo size 1400,1400 font 'DejaVu Sans,14'
set multiplot layout 3,2 margins 0.075,0.985,0.05,0.965 spacing 0.08,0.09
set logscale y
set format y '10^{%L}'
set xrange [0:42]
set yrange [1e-4:20]
set xlabel 'time, sound crossings'
set ylabel 'distance from the shape at rest'
set arrow 1 from 0,0.01 to 42,0.01 nohead lc rgb 'gray40' lw 1 dt 3
set label 1 'back: 1 %' at 9,0.0073 textcolor rgb 'gray40'
set key top right
file = data . '/errors.tsv'
array panel[4] = ['printed', 'switched', 'shifted', 'stvk']
array said[4] = ['(a) C = Ψ, Neo-Hookean, switched: as printed', '(b) C = √(2Ψ), Neo-Hookean, switched', '(c) C = √(2Ψ), Neo-Hookean, corotated slope', '(d) C = √(2Ψ), StVK, corotated slope']
array start[4] = ['plane', 'line', 'point', 'inside_out']
array name[4] = ['from a plane', 'a line', 'a point', 'inside out']
do for [p = 1:4] {
    set title said[p] . quick
    plot for [s = 1:4] file using 2:(strcol(1) eq panel[p] . ' ' . start[s] ? $3 : NaN) with lines ls s title name[s]
    unset key
}
set xrange [0:16.5]
set arrow 1 from 0,0.01 to 16.5,0.01 nohead lc rgb 'gray40' lw 1 dt 3
set key bottom right
set label 1 'back: 1 %' at 0.3,0.0073 textcolor rgb 'gray40'
file = data . '/cows.tsv'
array cow[2] = ['scaled', 'random']
array how[2] = ['(e) a cow, scaled down into a ball', '(f) a cow, each particle anywhere in a ball']
do for [p = 1:2] {
    set title how[p] . quick
    plot file using 2:(strcol(1) eq cow[p] . ' 0.1 particles' ? $3 : NaN) with lines ls 1 title 'particles, all at once', \
         file using 2:(strcol(1) eq cow[p] . ' 0.1 loop' ? $3 : NaN) with lines ls 3 title 'particles, within the loop', \
         file using 2:(strcol(1) eq cow[p] . ' 0.1 mesh' ? $3 : NaN) with lines ls 2 title 'tetrahedra of the same particles', \
         file using 2:(strcol(1) eq cow[p] . ' 0.3 particles' ? $3 : NaN) with lines ls 1 lw 0.8 notitle, \
         file using 2:(strcol(1) eq cow[p] . ' 0.3 loop' ? $3 : NaN) with lines ls 3 lw 0.8 notitle, \
         file using 2:(strcol(1) eq cow[p] . ' 0.3 mesh' ? $3 : NaN) with lines ls 2 lw 0.8 notitle
    unset key
}
unset multiplot
