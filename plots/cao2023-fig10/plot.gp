load style
set output out . '/cao2023-fig10.png'
set terminal pngcairo size 1400,950 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.08,0.985,0.075,0.955 spacing 0.085,0.14
set xlabel 'time, s'
stats data . '/numbers.tsv' using 1:2 name 'PARTICLES' nooutput
set title '(a) height of the centre of mass, C = Ψ' . quick
set ylabel 'height, m'
set xrange [0:*]
set yrange [*:*]
set key top right horizontal maxrows 2
set offsets 0, 0, graph 0.25, 0
array name[4] = ['2 × 60', '4 × 15', '10 × 3', '21 × 1']
plot for [s = 1:4] data . '/height.tsv' using 1:s + 1 with lines ls s title name[s]
array pair[4] = ['2 × 60 and 4 × 15', '4 × 15 and 10 × 3', '10 × 3 and 21 × 1', '2 × 60 and 21 × 1']
set ylabel 'distance over height'
set yrange [0:*]
set offsets 0, 0, graph 0.35, 0
set key top right vertical maxrows 5
set title '(b) distance of two settings, C = Ψ' . quick
plot data . '/loop.tsv' using 1:2 with lines lw 3 lc rgb 'gray70' title 'within the loop', \
     for [s = 1:4] data . '/printed.tsv' using 1:s + 1 with lines ls s title pair[s]
set title '(c) distance of two settings, C = √(2Ψ)' . quick
set key top left reverse Left
plot for [s = 1:4] data . '/root.tsv' using 1:s + 1 with lines ls s title pair[s]
set title '(d) largest distance of two settings, C = Ψ' . quick
set key noreverse
plot data . '/sizes.tsv' using 1:2 with lines ls 1 title number(PARTICLES_max_x) . ' particles', \
     data . '/sizes.tsv' using 1:3 with lines ls 2 title number(PARTICLES_max_y) . ' particles'
unset multiplot
