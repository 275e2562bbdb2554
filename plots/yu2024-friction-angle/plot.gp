load style
set output out . '/yu2024-friction-angle.png'
set terminal pngcairo size 1400,640 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.065,0.985,0.12,0.92 spacing 0.09,0.1
array name[3] = ['XPBI', 'MPM', 'XPBD grains']
array hollow[3] = [6, 4, 8]
array colour[3] = ['#1b3a6b', '#c2571a', '#2e7d4f']
file = data . '/slopes.tsv'
degree = pi / 180
shear(phi) = atan(sqrt(3) * 2 * sin(phi * degree) / (3 - sin(phi * degree))) / degree
set xlabel 'friction angle, degrees'
set xrange [18:47]
set yrange [0:60]
set key bottom right
set title '(a) let down slowly' . quick
set ylabel "slope of the heap's flank, degrees"
plot x with lines lc rgb 'gray40' lw 2 dt 1 title 'slope = friction angle', \
     shear(x) with lines lc rgb 'gray40' lw 2 dt 2 title "shear of Klár's cone", \
     for [k=1:3] file using ($1 == 0 && $2 == k - 1 ? $3 : NaN):4 with linespoints ls k ps 1.4 title name[k], \
     for [k=1:3] file using ($1 == 1 && $2 == k - 1 ? $3 : NaN):4 with points pt hollow[k] ps 1.6 lw 1.5 lc rgb colour[k] notitle
set title '(b) let go at once' . quick
plot x with lines lc rgb 'gray40' lw 2 dt 1 notitle, \
     shear(x) with lines lc rgb 'gray40' lw 2 dt 2 notitle, \
     for [k=1:3] file using ($1 == 2 && $2 == k - 1 ? $3 : NaN):4 with linespoints ls k ps 1.4 title name[k]
unset multiplot
