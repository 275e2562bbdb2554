load style
set output out . '/cao2023-momenta.png'
set terminal pngcairo size 1500,760 font 'DejaVu Sans,14'
set multiplot
set lmargin at screen 0.08
set rmargin at screen 0.57
set bmargin at screen 0.27
set tmargin at screen 0.92
set title '(a) impulse of one projection' . quick
set logscale y
set format y '10^{%T}'
set yrange [1e-18:1e2]
set ytics 1e-16, 1e4, 1
set ylabel 'relative impulse'
set xrange [-0.7:13.7]
set xtics rotate by 45 right font ',12'
set boxwidth 0.36
set style fill solid 0.85
set key top left horizontal
plot data . '/impulses.tsv' using ($2 - 0.19):3:xticlabels(1) with boxes lc rgb '#8fa9cf' title 'linear', \
     data . '/impulses.tsv' using ($2 + 0.19):4 with boxes lc rgb '#8a2f16' title 'angular'
unset logscale y
set xtics norotate font ',14' autofreq
set lmargin at screen 0.65
set rmargin at screen 0.985
set bmargin at screen 0.1
set title '(b) free spinning, corrected kernel' . quick
set xrange [0:2]
set yrange [*:1.02]
set format y '%g'
set ytics autofreq
set xlabel 'time, s'
set ylabel 'angular momentum, over that at the start'
set key bottom left Left reverse
steps = '10 5 2.5 1.25'
plot for [k=1:words(steps)] data . '/momentum.tsv' using (abs($1 - real(word(steps, k))) < 1e-6 ? $2 : NaN):3 with lines ls k title 'dt = ' . word(steps, k) . ' ms'
unset multiplot
