load style
set output out . '/engines-water.png'
set terminal pngcairo size 1500,760 font 'DejaVu Sans,13'
set multiplot
file(n) = data . '/' . n . '.tsv'
set size 0.333,0.76
set origin 0,0.24
set xlabel 't (2 g/a)^{1/2}'
set ylabel 'front over the width of the column'
set title '(a) front of a dam break'
set key top left
plot file('experiment') using 1:2 with points pt 6 ps 1 lc rgb 'black' title 'experiment', \
     file('front_dfsph') using 1:2 with lines ls 4 title 'DFSPH', file('front_pbf') using 1:2 with lines ls 1 title 'pbf'
set origin 0.333,0.24
set logscale xy
set format y '%g'
set xlabel 'processor time for a simulated second, s'
set ylabel 'distance of the front from the experiment'
set title '(b) what it costs'
set yrange [0.03:3]
set key top right
plot 0.13 with lines lc rgb 'gray60' dt 3 title '13 %', \
     file('dfsph') using 1:2 with points ls 4 title 'DFSPH', file('pbf') using 1:2 with points ls 1 title 'pbf', \
     file('shipped_dfsph') using 1:2 with points ls 4 pt 6 ps 2.6 title 'as shipped', \
     file('shipped_pbf') using 1:2 with points ls 1 pt 6 ps 2.6 notitle, \
     file('authors_dfsph') using 1:2 with points ls 4 pt 3 ps 2.6 title 'its authors'' scene'
set origin 0.667,0.24
set xlabel 'layers of still water'
set ylabel 'height lost'
set title '(c) still water'
set xrange [6:20]
set xtics (8, 12, 16)
set yrange [0.001:0.5]
set key bottom left
plot file('still_dfsph') using 1:2 with linespoints ls 4 title 'DFSPH', file('still_pbf') using 1:2 with linespoints ls 1 title 'pbf', \
     0.8 / x with lines lc rgb 'gray60' dt 3 title '0.8 layers'
# The table: a row a method, from the file of its group
unset logscale
unset title
unset key
unset border
unset tics
unset grid
unset xlabel
unset ylabel
set size 1,0.24
set origin 0,0
set xrange [0:1]
set yrange [-3:1.2]
array at[6] = [0.01, 0.17, 0.27, 0.37, 0.48, 0.74]
array head[6] = ['time for a second', 'to 8 %', 'to 13 %', 'to 20 %', 'as shipped', 'authors'' scene']
names = 'dfsph pbf'
do for [k = 1:6] { set label k head[k] at at[k], 0.6 noenhanced font ',12' }
plot for [r = 1:words(names)] for [k = 1:6] file('reached_' . word(names, r)) every ::1 \
     using (at[k]):(0.6 - 1.2 * r):(stringcolumn(k)) with labels left noenhanced font ',12'
unset multiplot
