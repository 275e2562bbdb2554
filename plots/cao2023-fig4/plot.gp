load style
set output out . '/cao2023-fig4.png'
set terminal pngcairo size 1600,560 font 'DejaVu Sans,14'
set multiplot layout 1,3 margins 0.065,0.985,0.15,0.91 spacing 0.08,0.1
stats data . '/numbers.tsv' using 1:2 name 'PARTICLES' nooutput
stats data . '/pairs.tsv' using 2:3 name 'PAIRS' nooutput
stats data . '/pairs.tsv' using 6:7 name 'LOOP' nooutput
many = PAIRS_max_x > PAIRS_max_y ? PAIRS_max_x : PAIRS_max_y
many = LOOP_max_x > many ? LOOP_max_x : many
unit = many > 5000 ? 1000 : 1
set title '(a) ' . number(PARTICLES_max_x) . ' particles: pairs that overlap' . quick
set xlabel 'time, s'
set ylabel 'pairs of particles' . (unit > 1 ? ', thousands' : '')
set yrange [0:1.5 * (many > 0 ? many : 1) / unit]
set key top left Left reverse samplen 2
orange = '#c2571a'
blue = '#1b3a6b'
file = data . '/pairs.tsv'
plot file using 1:($2 / unit) with lines lw 2 dt 2 lc rgb orange title 'all at once, without self-collision', \
     file using 1:($3 / unit) with lines lw 2 dt 2 lc rgb blue title 'all at once, with', \
     file using 1:($6 / unit) with lines lw 2 lc rgb orange title 'within the loop, without', \
     file using 1:($7 / unit) with lines lw 2 lc rgb blue title 'within the loop, with'
set yrange [0:*]
set title '(b) height of the centre of mass' . quick
set ylabel 'height, m'
unset key
plot file using 1:4 with lines lw 2 dt 2 lc rgb orange, file using 1:5 with lines lw 2 dt 2 lc rgb blue, \
     file using 1:8 with lines lw 2 lc rgb orange, file using 1:9 with lines lw 2 lc rgb blue
set title '(c) ' . number(PARTICLES_max_y) . ' particles: pairs at the end' . quick
set xlabel 'layers that collide'
set ylabel 'pairs of particles'
set xrange [-0.6:2.6]
set key top right
set style fill solid 0.9
set boxwidth 0.35
plot data . '/layers.tsv' every ::1 using ($0 - 0.2):2:xtic(1) with boxes fs solid 0.55 lc rgb '#c2571a' title 'two substeps', \
     data . '/layers.tsv' every ::1 using ($0 + 0.2):3 with boxes lc rgb '#1b3a6b' title 'eight', \
     data . '/layers.tsv' every ::1 using ($0 - 0.2):2:(sprintf('%d', $2)) with labels offset 0,0.7 notitle, \
     data . '/layers.tsv' every ::1 using ($0 + 0.2):3:(sprintf('%d', $3)) with labels offset 0,0.7 notitle
unset multiplot
