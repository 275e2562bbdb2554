load style
set output out . '/rivals-contrast.png'
set terminal pngcairo size 1400,1180 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.075,0.985,0.155,0.955 spacing 0.085,0.13
of(s, half, c) = (strcol(1) eq s && strcol(2) eq half) ? column(c) : NaN
array key_of[8] = ['vbd adaptive none', 'vbd inertia none', 'vbd inertia anderson', 'root', 'six none', 'six anderson', 'global', 'newton']
array name[8] = ['VBD, adaptive guess', 'VBD, from inertia', 'VBD, from inertia, Anderson', 'XPBD √(2Ψ), to its floor', 'six strains', \
                 'six strains, Anderson', 'six strains, exact solve', 'quasi-Newton']
array of_style[8] = [5, 1, 11, 2, 4, 14, 6, 3]
set style line 11 linecolor rgb '#1b3a6b' linewidth 2 dashtype 3 pointtype 6 pointsize 0.9
set style line 14 linecolor rgb '#8a3a8f' linewidth 2 dashtype 1 pointtype 12 pointsize 1.1
set logscale xy
set format x '10^{%T}'
set format y '%g'
set xrange [0.7:1.5e6]
set yrange [0.7:6e3]
set ytics (1, 10, 100, 1000, 'never' 4000)
set ylabel 'iterations to 1 %'
panel(k, half) = sprintf('plot for [j=1:8] "%s/by_%s.tsv" using (of(key_of[j], "%s", 3)):(of(key_of[j], "%s", 4)) with linespoints ls of_style[j] title name[j]', data, k, half, half)
unset key
set title '(a) the root stiffer'
set xlabel 'modulus of the root over that of the tip'
eval panel('e', 'root')
set title '(b) the tip stiffer'
set xlabel 'modulus of the tip over that of the root'
eval panel('e', 'tip')
set xrange [0.7e-6:1.5]
set title '(c) the root lighter'
set xlabel 'density of the root over that of the tip'
eval panel('density', 'root')
set key at screen 0.53,0.05 center center maxrows 3
set title '(d) the tip lighter'
set xlabel 'density of the tip over that of the root'
eval panel('density', 'tip')
unset multiplot
