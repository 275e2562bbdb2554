load style
set output out . '/yu2024-nature.png'
set terminal pngcairo size 1400,1000 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.08,0.98,0.08,0.95 spacing 0.1,0.14
file = data . '/heaps.tsv'
laws = data . '/laws.tsv'
outlines = data . '/outlines.tsv'
fine = data . '/fine.tsv'
array hollow[2] = [6, 4]
array colour[2] = ['#1b3a6b', '#c2571a']
array name[3] = ['XPBI', 'MPM', 'XPBD grains']
array dx[3] = [0.98, 1.0, 1.02]
set logscale xy
set xlabel 'a = h_0 / r_0'
set xrange [0.38:3.8]
set xtics (0.5, 1, 2, 3)
set title '(a) run-out' . quick
set ylabel '(r - r_0) / r_0'
set yrange [0.02:30]
set ytics (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
set key top left Left reverse
plot laws using 1:2 with lines lc rgb 'gray40' lw 2 dt 1 title 'Lube et al. 2004', \
     laws using 1:3 with lines lc rgb 'gray40' lw 2 dt 3 title 'Lajeunesse et al. 2004', \
     for [k=1:3] file using ($1 == k - 1 ? $2 * dx[k] : NaN):3:4 with yerrorbars ls k ps 1.5 lw 1.5 title name[k], \
     for [k=1:2] fine using ($1 == k - 1 ? $2 * dx[k] * 1.06 : NaN):3 with points pt hollow[k] ps 1.7 lw 1.5 lc rgb colour[k] notitle
set title '(b) height' . quick
set ylabel 'h / r_0'
set yrange [0.2:2]
set ytics (0.2, 0.5, 1, 2)
plot laws using 1:4 with lines lc rgb 'gray40' lw 2 dt 1 title 'Lube et al. 2004', \
     for [k=1:3] file using ($1 == k - 1 ? $2 * dx[k] : NaN):5:6 with yerrorbars ls k ps 1.5 lw 1.5 title name[k], \
     for [k=1:2] fine using ($1 == k - 1 ? $2 * dx[k] * 1.06 : NaN):4 with points pt hollow[k] ps 1.7 lw 1.5 lc rgb colour[k] notitle
unset logscale y
set title "(c) slope of the heap's flank" . quick
set ylabel 'degrees'
set yrange [0:90]
set ytics 15
set key default
set key at graph 0.98, graph 0.72 samplen 3 spacing 1.1
plot 30 with lines lc rgb 'gray40' dt 1 lw 2 title 'friction angle', \
     for [k=1:3] file using ($1 == k - 1 ? $2 * dx[k] : NaN):7:8 with yerrorbars ls k ps 1.5 lw 1.5 title name[k], \
     for [k=1:2] fine using ($1 == k - 1 ? $2 * dx[k] * 1.06 : NaN):5 with points pt hollow[k] ps 1.7 lw 1.5 lc rgb colour[k] notitle
unset logscale x
set title '(d) outlines, a = 1' . quick
set xlabel 'distance from the axis / r_0'
set ylabel 'height / r_0'
set xrange [0:3]
set xtics auto
set yrange [0:1.2]
set ytics auto
set key default
set key top right samplen 3 spacing 1.1
set arrow 1 from 0,1 to 1,1 nohead lc rgb 'gray60' dt 2
set arrow 2 from 1,1 to 1,0 nohead lc rgb 'gray60' dt 2
plot for [k=1:3] outlines using ($1 == k - 1 ? $2 : NaN):3 with linespoints ls k lw 1.5 title name[k]
unset multiplot
