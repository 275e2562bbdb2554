load style
set output out . '/rivals-contrast.png'
set terminal pngcairo size 1400,1120 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.075,0.985,0.07,0.95 spacing 0.085,0.13
of(s, half, c) = (strcol(1) eq s && strcol(2) eq half) ? column(c) : NaN
solvers = 'none anderson root six six_anderson global newton'
array name[7] = ['VBD', 'VBD, Anderson', 'XPBD √(2Ψ), to its floor', 'six strains', 'six strains, Anderson', 'six strains, exact solve', 'quasi-Newton']
array of_style[7] = [1, 1, 2, 4, 4, 6, 3]
array key_of[7] = ['none', 'anderson', 'root', 'six none', 'six anderson', 'global', 'newton']
set logscale xy
set format x '10^{%T}'
set format y '%g'
set xrange [0.7:1.5e6]
set yrange [0.7:1e5]
set ytics (1, 10, 100, 1000, 'never' 4000)
set ylabel 'iterations to 1 %'
panel(k, half) = sprintf('plot for [j=1:7] "%s/by_%s.tsv" using (of(key_of[j], "%s", 3)):(of(key_of[j], "%s", 4)) with linespoints ls of_style[j] dt (j == 2 || j == 5 ? 3 : 1) title name[j]', data, k, half, half)
set key top left maxrows 4 width -3
set title '(a) the root stiffer'
set xlabel 'modulus of the root over that of the tip'
eval panel('E', 'root')
unset key
set title '(b) the tip stiffer'
set xlabel 'modulus of the tip over that of the root'
eval panel('E', 'tip')
set title '(c) the root denser'
set xlabel 'density of the root over that of the tip'
eval panel('density', 'root')
set title '(d) the tip denser'
set xlabel 'density of the tip over that of the root'
eval panel('density', 'tip')
unset multiplot
