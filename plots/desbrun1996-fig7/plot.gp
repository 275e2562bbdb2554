load style
set output out . '/desbrun1996-fig7.png'
set terminal pngcairo size 1400,560 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.085,0.985,0.13,0.91 spacing 0.1,0.1
set title '(a) area within the surface' . quick
set xlabel 'time, s'
set ylabel 'area / area before the cut'
set key bottom right Left reverse
levels = '1 1.5 2 2.5 3'
plot for [k=1:words(levels)] data . '/area.tsv' using (abs($1 - real(word(levels, k))) < 1e-6 ? $2 : NaN):3 with lines ls k title word(levels, k) . ' m W(h)'
set title '(b) largest change by level'
set xlabel 'level, m W(h)'
set ylabel 'largest change of area'
set yrange [0:*]
set xrange [0:3.1]
set arrow 1 from 0.25,0.1 to 3,0.1 nohead dt 3 lc rgb 'gray30'
set label 1 'ten per cent' at 2.2,0.1 offset 0,0.6 textcolor rgb 'gray30'
plot data . '/change.tsv' using 1:2 with linespoints ls 1 notitle
unset multiplot
