load style
set output out . '/engines-sand.png'
set terminal pngcairo size 1240,820 font 'DejaVu Sans,13'
set multiplot
file(n) = data . '/' . n . '.tsv'
set size 0.5,0.68
set origin 0,0.32
set xlabel 'friction angle, degrees'
set ylabel 'run-out over the length of the slab'
set title '(a) run-out'
set xrange [15:45]
set key top right
plot file('mpm') using 1:2 with points ls 1 title 'mpm', \
     file('xpbi') using 1:2 with points ls 2 title 'xpbi', \
     file('taichi_mpm') using ($1 + 0.6):2 with points ls 3 title 'taichi\_mpm', \
     file('newton_mpm') using 1:2 with points ls 4 title 'newton\_mpm'
set origin 0.5,0.32
set xlabel 'processor time for a simulated second, s'
set title '(b) at 30 degrees'
set autoscale x
set logscale x
set format x '%g'
set offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05
thirty(y) = abs(column(1) - 30) < 1 ? y : 1/0
plot file('mpm') using 3:(thirty($2)) with points ls 1 notitle, file('xpbi') using 3:(thirty($2)) with points ls 2 notitle, \
     file('taichi_mpm') using 3:(thirty($2)) with points ls 3 notitle, \
     file('newton_mpm') using 3:(thirty($2)) with points ls 4 notitle, \
     file('shipped_mpm') using 3:2 with points ls 1 pt 6 ps 2.6 notitle, \
     file('shipped_xpbi') using 3:2 with points ls 2 pt 6 ps 2.6 notitle, \
     file('shipped_taichi') using 3:2 with points ls 3 pt 6 ps 2.6 notitle, \
     file('authors_newton') using 3:2 with points ls 4 pt 3 ps 2.6 notitle
# The table: a row a method, from the file of its group
unset logscale
unset offsets
unset title
unset key
unset border
unset tics
unset grid
unset xlabel
unset ylabel
set size 1,0.32
set origin 0,0
set xrange [0:1]
set yrange [-7.4:1.2]
array at[6] = [0.01, 0.15, 0.27, 0.38, 0.50, 0.74]
array head[6] = ['at 30 degrees', 'run-out', 'to 1 %', 'to 5 %', 'as shipped', 'authors'' scene']
names = 'mpm xpbi taichi_mpm newton_mpm mpm_gpu newton_gpu'
do for [k = 1:6] { set label k head[k] at at[k], 0.6 noenhanced font ',12' }
plot for [r = 1:words(names)] for [k = 1:6] file('reached_' . word(names, r)) every ::1 \
     using (at[k]):(0.6 - 1.2 * r):(stringcolumn(k)) with labels left noenhanced font ',12'
unset multiplot
