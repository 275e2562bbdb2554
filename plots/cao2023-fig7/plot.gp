load style
set output out . '/cao2023-fig7.png'
set terminal pngcairo size 1400,1300 font 'DejaVu Sans,14'
set multiplot layout 3,1 margins 0.08,0.98,0.06,0.96 spacing 0.1,0.1
stats data . '/numbers.tsv' using 1:2 nooutput
set title '(a) deflection of the middle' . quick
set format y '%g'
set xlabel 'time, s'
set ylabel 'below its place at rest, m'
set xrange [0:4]
set yrange [-0.03:0.33]
set xzeroaxis lc rgb 'gray50' lw 0.7
set key top right maxrows 3
set arrow 1 from 1, graph 0 to 1, graph 1 nohead lc rgb 'gray50' lw 1 dt 3
set label 1 'objects taken away' at 0.98, graph 0.94 right textcolor rgb 'gray30'
plot data . '/deflection.tsv' using 1:2 with lines lc rgb 'gray70' lw 5 title 'elastic', \
     data . '/deflection.tsv' using 1:3 with lines lc rgb '#1b3a6b' lw 3 title 'plastic, yield strain 0.02', \
     data . '/falling.tsv' using 1:2 with lines lc rgb 'gray50' lw 1.2 title 'balls fall on tetrahedra', \
     data . '/falling.tsv' using 1:3 with lines lc rgb '#1b3a6b' lw 1.2 notitle, \
     data . '/falling.tsv' using 1:4 with lines lc rgb 'gray50' lw 1.2 dt 2 title 'balls fall on ' . number(STATS_max_x) . ' particles', \
     data . '/falling.tsv' using 1:5 with lines lc rgb '#1b3a6b' lw 1.2 dt 2 notitle, \
     data . '/sized.tsv' using ($1 == 3 ? $2 : NaN):3 with lines lc rgb 'gray50' lw 1.8 dt 3 title 'balls fall on ' . number(STATS_max_y) . ' particles', \
     data . '/sized.tsv' using ($1 == 3 ? $2 : NaN):4 with lines lc rgb '#1b3a6b' lw 1.8 dt 3 notitle
unset arrow 1
unset label 1
set title '(b) the plates at 4 s, from the side' . quick
set xlabel 'x, m'
set ylabel 'z, m'
set xrange [-0.02:1.02]
set yrange [-0.26:0.12]
set size ratio -1
set key bottom center horizontal
set format y
plot data . '/shape.tsv' using 2:($1 == 0 ? $3 : NaN):4:5 with vectors nohead lc rgb 'gray70' lw 5 title 'elastic', \
     data . '/shape.tsv' using 2:($1 > 0 ? $3 : NaN):4:5 with vectors nohead lc rgb '#1b3a6b' lw 1.8 title 'plastic, yield strain 0.02'
set size noratio
set title '(c) ' . number(STATS_max_y) . ' particles: constraint and loop' . quick
set format y '%g'
set xlabel 'time, s'
set ylabel 'below its place at rest, m'
set xrange [0:8]
set yrange [-0.15:0.5]
set xzeroaxis lc rgb 'gray50' lw 0.7
set key top right vertical maxrows 4
array name[4] = ['C = Ψ, 10 kg, within the loop', 'C = Ψ, 10 kg, at once', 'C = √(2Ψ), 0.2 kg, within the loop', 'C = √(2Ψ), 0.2 kg, at once']
plot for [k=1:4] data . '/sized.tsv' using ($1 == k - 1 ? $2 : NaN):3 with lines ls k lw 1.2 title name[k] . ', elastic', \
     for [k=1:4] data . '/sized.tsv' using ($1 == k - 1 ? $2 : NaN):4 with lines ls k lw 2.6 title name[k] . ', plastic'
unset multiplot
