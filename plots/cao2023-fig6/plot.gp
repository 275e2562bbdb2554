load style
set output out . '/cao2023-fig6.png'
set terminal pngcairo size 1400,680 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.06,0.98,0.12,0.92 spacing 0.1,0.1
set title 'pulled on every edge, fibre of 500 Pa at 45°' . quick
set size ratio -1
set xlabel 'x, m'
set ylabel 'y, m'
set xrange [-0.3:1.3]
set yrange [-0.8:0.8]
unset key
set object 1 rectangle from 0,-0.5 to 1,0.5 fillcolor rgb 'gray85' fillstyle solid noborder behind
set arrow 1 from 0.2,-0.3 to 0.8,0.3 heads filled size 0.03,20 lc rgb '#c2571a' lw 3 front
set label 1 'grey: at rest; arrow: the fibre there' at 0.18,0.73 textcolor rgb 'gray30'
plot data . '/mesh.tsv' using 1:2:3:4 with vectors nohead lc rgb '#1b3a6b' lw 1
unset object 1
unset arrow 1
unset label 1
set size noratio
set title 'stretch along and across the fibre' . quick
set xlabel 'stiffness of the fibre, Pa'
set ylabel 'mean stretch'
set xrange [-20:520]
set yrange [1:*]
set key right center
plot data . '/stretch.tsv' using 1:5 with lines ls 2 title 'across, homogeneous state', \
     data . '/stretch.tsv' using 1:3 with points ls 2 lw 1.2 title 'across, strain\_energy', \
     data . '/stretch.tsv' using 1:4 with lines ls 1 title 'along, homogeneous state', \
     data . '/stretch.tsv' using 1:2 with points ls 1 lw 1.2 title 'along, strain\_energy'
unset multiplot
