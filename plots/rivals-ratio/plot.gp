load style
set output out . '/rivals-ratio.png'
set terminal pngcairo size 1400,680 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.075,0.97,0.25,0.92 spacing 0.085,0.1
of(s, E, c) = (strcol(1) eq s && column(2) == E) ? column(c) : NaN
array key_of[7] = ['vbd none', 'vbd anderson', 'root', 'six none', 'six anderson', 'exact', 'newton']
array name[7] = ['VBD', 'VBD, Anderson', 'XPBD √(2Ψ), to its floor', 'six strains', 'six strains, Anderson', \
                 'six strains, exact solve', 'quasi-Newton']
array of_style[7] = [1, 11, 2, 4, 14, 6, 3]
set style line 11 linecolor rgb '#1b3a6b' linewidth 2 dashtype 3 pointtype 6 pointsize 0.9
set style line 14 linecolor rgb '#8a3a8f' linewidth 2 dashtype 1 pointtype 12 pointsize 1.1
set logscale xy
set xrange [0.25:0.0008]
set xtics ('0.3' 0.2, '0.4' 0.1, '0.45' 0.05, '0.48' 0.02, '0.49' 0.01, '0.495' 0.005, '0.499' 0.001)
set yrange [0.7:6e3]
set ytics (1, 10, 100, 1000, 'never' 4000)
set xlabel 'ν, by 1/2 − ν'
set ylabel 'iterations to 1 %'
unset key
set title '(a) E = 1e5 Pa'
plot for [j=1:7] data . '/counts.tsv' using (0.5 - of(key_of[j], 1e5, 3)):(of(key_of[j], 1e5, 4)) with linespoints ls of_style[j] notitle
set key at screen 0.53,0.07 center center maxrows 3
set title '(b) E = 1e6 Pa'
plot for [j=1:7] data . '/counts.tsv' using (0.5 - of(key_of[j], 1e6, 3)):(of(key_of[j], 1e6, 4)) with linespoints ls of_style[j] title name[j]
unset multiplot
