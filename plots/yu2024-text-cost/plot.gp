load style
set output out . '/yu2024-text-cost.png'
set terminal pngcairo size 1400,880 font 'DejaVu Sans,13'
set multiplot layout 2,2 margins 0.075,0.98,0.085,0.945 spacing 0.1,0.17
set title '(a) an iteration for a particle' . quick
set ylabel 'ns on one thread'
set style data histograms
set style histogram clustered gap 1
set boxwidth 0.9
set xrange [0.4:5.6] # the header is the row 0
set yrange [0:*]
set key top left
file = data . '/flows.tsv'
plot file using 2:xtic(1) fill solid 0.85 lc rgb '#1b3a6b' title 'flow after the iterations', '' using 3 fill pattern 2 lc rgb '#c2571a' title 'flow inside them'
set title '(b) an iteration for a particle' . quick
set xlabel 'neighbours of a particle'
set xrange [0:*]
set xtics auto
set key top left
file = data . '/radii.tsv'
stats file using 1 name 'P' nooutput
plot file using ($1 == P_min ? $2 : NaN):3 with linespoints ls 1 title sprintf('%d particles', P_min), '' using ($1 == P_max ? $2 : NaN):3 with linespoints ls 2 title sprintf('%d particles', P_max)
set title '(c) an update of a neighbour, and lanes filled' . quick
set xlabel ''
set ylabel 'ns; tenths of the lanes'
set xrange [0.4:3.6] # the header is the row 0
set yrange [0:*]
set offsets 0, 0, graph 0.35, 0 # room for the key
set key inside top left maxrows 2 font ',11'
file = data . '/cells.tsv'
plot file using 2:xtic(1) fill solid 0.85 lc rgb '#1b3a6b' title 'ns, 3^3 of 2r', '' using 3 fill pattern 2 lc rgb '#1b3a6b' title 'ns, 2^3 of 4r', '' using 4 fill solid 0.6 lc rgb '#c2571a' title 'lanes, 3^3 of 2r', '' using 5 fill pattern 2 lc rgb '#c2571a' title 'lanes, 2^3 of 4r'
set title '(d) all time for a particle, step and iteration' . quick
set xlabel 'particles'
set ylabel 'ns'
set logscale xy
set xrange [300:6e6]
unset offsets
set yrange [1:20000]
set xtics auto
set format x '10^{%L}'
set format y '10^{%L}'
set key inside top right maxrows 3
file = data . '/sizes.tsv'
$paper << EOD
8000	120
56000	39
400000	23
3000000	15
EOD
plot file using 1:2 with linespoints ls 1 title 'one CPU thread', $paper using 1:2 with linespoints ls 2 title 'RTX 4090, Gauss-Seidel', '+' using (20000):(3) every ::0::0 with points pt 4 ps 1.4 lc rgb 'black' title 'RTX 4090, Jacobi'
unset multiplot
