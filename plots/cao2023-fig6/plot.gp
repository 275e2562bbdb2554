load style
set output out . '/cao2023-fig6.png'
set terminal pngcairo size 1500,760 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.07,0.98,0.12,0.92 spacing 0.1,0.1
set title '(a) pulled on every edge, fibre of 500 Pa at 45°' . quick
stats data . '/numbers.tsv' using 1:2 name 'PARTICLES' nooutput
set size ratio -1
set xlabel 'x over the side'
set ylabel 'y over the side'
set xrange [-0.4:1.4]
set yrange [-1.05:1.0]
set key inside bottom left reverse Left
set object 1 rectangle from 0,-0.5 to 1,0.5 fillcolor rgb 'gray85' fillstyle solid noborder behind
set arrow 1 from 0.2,-0.3 to 0.8,0.3 heads filled size 0.03,20 lc rgb '#c2571a' lw 3 front
set label 1 'grey: at rest; arrow: the fibre there' at -0.27,0.9 textcolor rgb 'gray30'
plot data . '/mesh.tsv' using 1:2:3:4 with vectors nohead lc rgb '#1b3a6b' lw 1 title 'triangles', \
     data . '/outline.tsv' using ($1 == 0 ? $2 : NaN):3 with lines lc rgb '#2e7d4f' lw 2.5 title number(PARTICLES_max_x) . ' particles, C = Ψ, 5000 Pa', \
     data . '/outline.tsv' using ($1 == 1 ? $2 : NaN):3 with lines lc rgb '#c2571a' lw 2.5 dt 2 title number(PARTICLES_max_x) . ' particles, C = √(2Ψ), 20 Pa'
unset object 1
unset arrow 1
unset label 1
set size noratio
set title '(b) stretch along and across the fibre' . quick
set xlabel 'stiffness of the fibre, Pa'
set ylabel 'mean stretch'
set xrange [-20:520]
set yrange [1:2.3]
set key inside top right noreverse Right
set label 2 'across the fibre' at 505,1.56 right textcolor rgb 'gray20'
set label 3 'along it' at 505,1.07 right textcolor rgb 'gray20'
plot data . '/stretch.tsv' using 1:5 with lines ls 2 title 'triangles: homogeneous membrane', '' using 1:4 with lines ls 2 notitle, \
     data . '/stretch.tsv' using 1:3 with points ls 2 lw 1.2 title 'triangles, strain\_energy', '' using 1:2 with points ls 2 lw 1.2 notitle, \
     data . '/sheet.tsv' using ($1 == 0 ? $2 : NaN):6 with lines ls 1 title 'particles: homogeneous sheet, free faces', '' using ($1 == 0 ? $2 : NaN):5 with lines ls 1 notitle, \
     data . '/sheet.tsv' using ($1 == 0 ? $2 : NaN):4 with points ls 1 ps 1.2 title number(PARTICLES_max_y) . ' particles, sixty iterations', '' using ($1 == 0 ? $2 : NaN):3 with points ls 1 ps 1.2 notitle, \
     data . '/sheet.tsv' using ($1 == 1 ? $2 : NaN):4 with points pt 2 ps 1.4 lw 1.4 lc rgb '#1b3a6b' title 'the same, all at once', '' using ($1 == 1 ? $2 : NaN):3 with points pt 2 ps 1.4 lw 1.4 lc rgb '#1b3a6b' notitle, \
     data . '/paper_settings.tsv' using ($1 == 0 ? $2 : NaN):4 with points pt 6 ps 1.8 lw 1.8 lc rgb '#1b3a6b' title number(PARTICLES_max_x) . ' particles, ten iterations', '' using ($1 == 0 ? $2 : NaN):3 with points pt 6 ps 1.8 lw 1.8 lc rgb '#1b3a6b' notitle, \
     data . '/paper_settings.tsv' using ($1 == 1 ? $2 : NaN):4 with points pt 8 ps 1.8 lw 1.8 lc rgb '#1b3a6b' title 'the same, all at once', '' using ($1 == 1 ? $2 : NaN):3 with points pt 8 ps 1.8 lw 1.8 lc rgb '#1b3a6b' notitle
unset multiplot
