load style
set output out . '/speed-growth.png'
set terminal pngcairo size 1300,560 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.075,0.985,0.13,0.9 spacing 0.09,0.1
set logscale xy
set format xy '10^{%T}'
set xlabel 'particles'
set ylabel 'ns per item'
set offsets 0, 0, graph 0.45, 0 # room for the key
set key top left Left reverse maxrows 3
set title '(a) a step, one thread, f32' . quick
plot data . '/xpbi.tsv' using 1:2 with linespoints ls 1 title 'xpbi', \
     data . '/mpm.tsv' using 1:2 with linespoints ls 2 title 'mpm', \
     data . '/energy.tsv' using 1:2 with linespoints ls 3 title 'strain\_energy', \
     data . '/vertices.tsv' using 1:2 with linespoints ls 4 title 'vbd', \
     data . '/distance.tsv' using 1:2 with linespoints ls 5 title 'pbd\_distance', \
     data . '/corrected.tsv' using 1:2 with linespoints ls 6 title 'corrected\_sph'
set ylabel '{/Symbol m}s per particle'
set title '(b) setup' . quick
plot data . '/xpbi.tsv' using 1:3 with linespoints ls 1 title 'xpbi', \
     data . '/mpm.tsv' using 1:3 with linespoints ls 2 title 'mpm', \
     data . '/energy.tsv' using 1:3 with linespoints ls 3 title 'strain\_energy', \
     data . '/vertices.tsv' using 1:3 with linespoints ls 4 title 'vbd', \
     data . '/distance.tsv' using 1:3 with linespoints ls 5 title 'pbd\_distance', \
     data . '/corrected.tsv' using 1:3 with linespoints ls 6 title 'corrected\_sph'
unset multiplot
