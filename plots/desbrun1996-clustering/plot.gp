load style
set output out . '/desbrun1996-clustering.png'
set terminal pngcairo size 1500,560 font 'DejaVu Sans,14'
set multiplot layout 1,3 margins 0.055,0.985,0.13,0.9 spacing 0.06,0.1
set xlabel 'distance to the nearest other, spacings'
set ylabel 'share of particles'
set yrange [0:0.32]
set xrange [0:1.5]
set key top left Left reverse
hs = '0.94 1.5'
do for [k=1:2] {
    set title sprintf('(%s) h = %s spacings', k == 1 ? 'a' : 'b', word(hs, k)) . quick
    plot data . '/nearest.tsv' using ($1 == 0 && abs($2 - real(word(hs, k))) < 1e-6 ? $3 : NaN):4 with linespoints ls 1 title "the paper's kernel", \
         data . '/nearest.tsv' using ($1 == 1 && abs($2 - real(word(hs, k))) < 1e-6 ? $3 : NaN):4 with linespoints ls 2 title 'cubic spline'
}
set yrange [0:1.15]
set title '(c) share nearer than half a spacing'
set xlabel 'h, spacings'
set ylabel 'clustered'
set xrange [0.9:2.1]
plot data . '/clustered.tsv' using 1:2 with linespoints ls 1 title "the paper's kernel", \
     data . '/clustered.tsv' using 1:3 with linespoints ls 2 title 'cubic spline', \
     data . '/clustered.tsv' using 1:4 with linespoints ls 3 title "the paper's, pressed", \
     data . '/clustered.tsv' using 1:5 with linespoints ls 4 title 'spline, pressed'
unset multiplot
