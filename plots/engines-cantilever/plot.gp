load style
set output out . '/engines-cantilever.png'
set terminal pngcairo size 1000,640 font 'DejaVu Sans,14'
set logscale xy
set xlabel 'processor time for a simulated second, s'
set ylabel 'distance of the mean tip from rest of the same mesh'
set format y '%g'
set yrange [5e-6:100]
set xrange [0.008:12]
set key bottom left
plot 0.01 with lines lc rgb 'gray60' dt 3 title '1 %', \
     data . '/fem.tsv' using 1:2 with points ls 1 title 'fem\_implicit', \
     data . '/quasi.tsv' using 1:2 with points ls 2 title 'quasi\_newton', \
     data . '/blocks.tsv' using 1:2 with points ls 3 title 'vbd', \
     data . '/mujoco.tsv' using 1:2 with points ls 4 title 'mujoco', \
     data . '/newton.tsv' using 1:2 with points ls 5 title 'newton (vbd, f32)'
