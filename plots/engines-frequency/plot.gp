load style
set output out . '/engines-frequency.png'
set terminal pngcairo size 1240,860 font 'DejaVu Sans,13'
set multiplot
file(n) = data . '/' . n . '.tsv'
set size 0.5,0.66
set origin 0,0.34
set logscale xy
set format y '%g'
set xlabel 'processor time for a simulated second, s'
set ylabel 'distance of the frequency from that of the same mesh'
set title '(a) frequency'
set key top right
set yrange [1e-5:50]
plot 0.01 with lines lc rgb 'gray60' dt 3 title '1 %', \
     file('fem') using 1:2 with points ls 1 title 'fem\_implicit', \
     file('quasi') using 1:2 with points ls 2 title 'quasi\_newton', \
     file('blocks') using 1:2 with points ls 3 title 'vbd', \
     file('mujoco') using 1:2 with points ls 4 title 'mujoco', \
     file('newton') using 1:2 with points ls 5 title 'newton (vbd, f32)', \
     file('shipped_fem') using 1:2 with points ls 1 pt 6 ps 2.6 notitle, \
     file('shipped_quasi') using 1:2 with points ls 2 pt 6 ps 2.6 notitle, \
     file('shipped_blocks') using 1:2 with points ls 3 pt 6 ps 2.6 notitle, \
     file('shipped_mujoco') using 1:2 with points ls 4 pt 6 ps 2.6 notitle, \
     file('authors_mujoco') using 1:2 with points ls 4 pt 3 ps 2.6 notitle, \
     file('authors_newton') using 1:2 with points ls 5 pt 3 ps 2.6 notitle
set origin 0.5,0.34
set xlabel 'step, s'
set ylabel 'damping ratio'
set title '(b) damping'
set xrange [0.0004:0.01]
set yrange [0.001:0.1]
set key top left
plot 3.14159265 * 1.21 * x with lines lc rgb 'gray60' dt 3 title '{/Symbol p} f dt', \
     file('fem') using 3:4 with points ls 1 notitle, file('quasi') using 3:4 with points ls 2 notitle, \
     file('blocks') using 3:4 with points ls 3 notitle, file('mujoco') using 3:4 with points ls 4 notitle, \
     file('newton') using 3:4 with points ls 5 notitle
# The table: a row a method, from the file of its group
unset logscale
unset title
unset key
unset border
unset tics
unset grid
unset xlabel
unset ylabel
set size 1,0.34
set origin 0,0
set xrange [0:1]
set yrange [-8.6:1.2]
array at[6] = [0.01, 0.17, 0.27, 0.37, 0.48, 0.74]
array head[6] = ['time for a second', 'to 1 %', 'to 5 %', 'to 10 %', 'as shipped', 'authors'' scene']
names = 'fem quasi blocks mujoco newton blocks_gpu newton_gpu'
do for [k = 1:6] { set label k head[k] at at[k], 0.6 noenhanced font ',12' }
plot for [r = 1:words(names)] for [k = 1:6] file('reached_' . word(names, r)) every ::1 \
     using (at[k]):(0.6 - 1.2 * r):(stringcolumn(k)) with labels left noenhanced font ',12'
unset multiplot
