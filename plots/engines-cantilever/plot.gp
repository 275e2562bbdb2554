load style
set output out . '/engines-cantilever.png'
set terminal pngcairo size 1120,1000 font 'DejaVu Sans,14'
set multiplot
file(n) = data . '/' . n . '.tsv'
set size 1,0.72
set origin 0,0.28
set logscale xy
set xlabel 'processor time for a simulated second, s'
set ylabel 'distance of the mean tip from rest of the same mesh'
set format y '%g'
set yrange [5e-6:300]
set xrange [0.004:100]
set key outside bottom center horizontal
plot 0.01 with lines lc rgb 'gray60' dt 3 title '1 %', \
     data . '/fem.tsv' using 1:2 with points ls 1 title 'fem\_implicit', \
     data . '/quasi.tsv' using 1:2 with points ls 2 title 'quasi\_newton', \
     data . '/blocks.tsv' using 1:2 with points ls 3 title 'vbd', \
     data . '/mujoco.tsv' using 1:2 with points ls 4 title 'mujoco', \
     data . '/newton.tsv' using 1:2 with points ls 5 title 'newton (vbd, f32)', \
     data . '/shipped_fem.tsv' using 1:2 with points ls 1 pt 6 ps 3 notitle, \
     data . '/shipped_quasi.tsv' using 1:2 with points ls 2 pt 6 ps 3 notitle, \
     data . '/shipped_blocks.tsv' using 1:2 with points ls 3 pt 6 ps 3 notitle, \
     data . '/shipped_mujoco.tsv' using 1:2 with points ls 4 pt 6 ps 3 title 'as shipped', \
     data . '/authors_mujoco.tsv' using 1:2 with points ls 4 pt 3 ps 3 title 'its authors'' scene', \
     data . '/authors_newton.tsv' using 1:2 with points ls 5 pt 3 ps 3 notitle
# The table: a row a method, from the file of its group
unset logscale
unset key
unset border
unset tics
unset grid
unset xlabel
unset ylabel
set size 1,0.28
set origin 0,0
set xrange [0:1]
set yrange [-8.6:1.2]
array at[6] = [0.01, 0.18, 0.31, 0.42, 0.53, 0.77]
array head[6] = ['time for a second', 'to 1 %', 'to 5 %', 'to 10 %', 'as shipped', 'authors'' scene']
names = 'fem quasi blocks mujoco newton blocks_gpu newton_gpu'
do for [k = 1:6] { set label k head[k] at at[k], 0.6 noenhanced font ',12' }
plot for [r = 1:words(names)] for [k = 1:6] file('reached_' . word(names, r)) every ::1 \
     using (at[k]):(0.6 - 1.2 * r):(stringcolumn(k)) with labels left noenhanced font ',12'
unset multiplot
