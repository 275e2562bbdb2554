load style
set output out . '/speed-threads.png'
set terminal pngcairo size 760,600 font 'DejaVu Sans,14'
set logscale xy 2
set xlabel 'threads'
set ylabel 'times as fast as one thread'
set xrange [0.9:18]
set yrange [0.5:18]
set key top left Left reverse
set title 'a step, f32' . quick
if (system("grep -c '^[0-9]' " . data . '/xpbi.tsv || true') + 0 == 0) {
    set label 'no runs: they need 16 processors' at graph 0.5, 0.2 center
}
plot x with lines lc rgb '#999999' dt 2 title 'as many times', \
     data . '/xpbi.tsv' using 1:2 with linespoints ls 1 title 'xpbi', \
     data . '/mpm.tsv' using 1:2 with linespoints ls 2 title 'mpm', \
     data . '/energy.tsv' using 1:2 with linespoints ls 3 title 'strain\_energy', \
     data . '/corrected.tsv' using 1:2 with linespoints ls 4 title 'corrected\_sph'
