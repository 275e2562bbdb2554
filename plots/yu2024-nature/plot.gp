load style
set output out . '/yu2024-nature.png'
set terminal pngcairo size 1500,1400 font 'DejaVu Sans,14'
set multiplot layout 3,2 margins 0.07,0.985,0.05,0.97 spacing 0.09,0.095
file = data . '/heaps.tsv'
laws = data . '/laws.tsv'
outlines = data . '/outlines.tsv'
array limit[6] = ['axi_xpbi', 'axi_mpm', 'axi_grains', 'plane_xpbi', 'plane_mpm', 'plane_grains']
array name[3] = ['XPBI', 'MPM', 'XPBD grains']
array form[2] = ['columns', 'slabs']
array year[2] = ['2004', '2005']
array dx[3] = [0.975, 1.0, 1.025]
set logscale xy
set xlabel 'a = h_0 / r_0'
set xrange [0.4:7.5]
set xtics (0.5, 1, 2, 3, 6)
do for [f=0:1] {
  set title sprintf('(%s) run-out of %s', f == 0 ? 'a' : 'b', form[f + 1]) . quick
  set ylabel '(r - r_0) / r_0'
  set yrange [0.2:12]
  set ytics (0.1, 0.2, 0.5, 1, 2, 5, 10)
  set key top left Left reverse
  plot laws using ($1 == f && $2 == 0 && $3 == 0 ? $4 : NaN):5 with lines lc rgb 'gray40' lw 2 dt 1 title 'Lube et al. ' . year[f + 1], \
       laws using ($1 == f && $2 == 0 && $3 == 1 ? $4 : NaN):5 with lines lc rgb 'gray40' lw 2 dt 3 title 'Lajeunesse et al. ' . year[f + 1], \
       for [k=1:3] data . '/limit_' . limit[3 * f + k] . '.tsv' using ($3 * dx[k]):4:5 with yerrorbars ls k ps 1.5 lw 1.5 title name[k], \
       for [k=1:3] file using ($1 == f && $2 == k - 1 ? $3 * dx[k] * 1.07 : NaN):4 with points ls k pt 6 ps 1.3 lw 1.5 notitle, \
       keyentry with points pt 6 ps 1.3 lw 1.5 lc rgb 'gray40' title 'finest size'
}
do for [f=0:1] {
  set title sprintf('(%s) height of %s', f == 0 ? 'c' : 'd', form[f + 1]) . quick
  set ylabel 'h / r_0'
  set yrange [0.3:3.5]
  set ytics (0.3, 0.5, 1, 2, 3)
  set key top left Left reverse
  plot laws using ($1 == f && $2 == 1 ? $4 : NaN):5 with lines lc rgb 'gray40' lw (f == 0 ? 2 : 1) dt 1 title 'Lube et al. ' . year[f + 1] . (f == 0 ? '' : ', unverified'), \
       for [k=1:3] file using ($1 == f && $2 == k - 1 ? $3 * dx[k] : NaN):6:7 with yerrorbars ls k ps 1.5 lw 1.5 title name[k]
}
unset logscale
set xtics auto
set ytics auto
do for [f=0:1] {
  set title sprintf('(%s) outlines of %s, a = 2', f == 0 ? 'e' : 'f', form[f + 1]) . quick
  set xlabel (f == 0 ? 'distance from the axis / r_0' : 'distance from the back wall / r_0')
  set ylabel 'height / r_0'
  set xrange [0:4]
  set yrange [0:1.6]
  set key top right nobox
  set key noreverse Right
  set style data linespoints
  plot for [k=1:3] outlines using ($1 == f && $2 == k - 1 ? $3 : NaN):4 with linespoints ls k lw 1.5 ps 0.8 title name[k]
}
unset multiplot
