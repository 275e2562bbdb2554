load style
set output out . '/engines-twist.png'
set terminal pngcairo size 1120,900 font 'DejaVu Sans,14'
set multiplot
file(n) = data . '/' . n . '.tsv'
set size 1,0.68
set origin 0,0.32
set logscale xy
set format y '%g'
set format x '%g'
set xlabel 'processor time for a simulated second, s'
set ylabel 'distance of the elastic energy from rest of the same mesh'
set key outside right
small(e) = e > 1e-9 ? e : 1e-9
half(c) = column(3) < 0.75 ? column(c) : 1/0
whole(c) = column(3) > 0.75 ? column(c) : 1/0
groups = 'fem quasi blocks mujoco newton'
titles = 'fem_implicit quasi_newton vbd mujoco newton'
shipped = 'fem quasi blocks mujoco'
plot 0.01 with lines lc rgb 'gray60' dt 3 title '1 %', \
     for [k = 1:5] file(word(groups, k)) using (half(1)):(small($2)) with points ls k pt 7 ps 1.4 title word(titles, k) noenhanced, \
     for [k = 1:5] file(word(groups, k)) using (whole(1)):(small($2)) with points ls k pt 6 ps 1.4 notitle, \
     for [k = 1:4] file('shipped_' . word(shipped, k)) using (whole(1)):(small($2)) with points ls k pt 6 ps 3 notitle, \
     file('authors_mujoco') using (whole(1)):(small($2)) with points ls 4 pt 3 ps 3 notitle, \
     file('authors_newton') using (whole(1)):(small($2)) with points ls 5 pt 3 ps 3 notitle
# The table: a row a method, from the file of its group
unset logscale
unset key
unset border
unset tics
unset grid
unset xlabel
unset ylabel
set size 1,0.32
set origin 0,0
set xrange [0:1]
set yrange [-8.6:1.2]
array at[6] = [0.01, 0.18, 0.31, 0.42, 0.53, 0.77]
array head[6] = ['time for a second', 'half turn 1 %', 'turn 1 %', 'turn 5 %', 'as shipped, a turn', 'authors'' scene, a turn']
names = 'fem quasi blocks mujoco newton blocks_gpu newton_gpu'
do for [k = 1:6] { set label k head[k] at at[k], 0.6 noenhanced font ',12' }
plot for [r = 1:words(names)] for [k = 1:6] file('reached_' . word(names, r)) every ::1 \
     using (at[k]):(0.6 - 1.2 * r):(stringcolumn(k)) with labels left noenhanced font ',12'
unset multiplot
