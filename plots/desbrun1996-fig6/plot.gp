load style
set output out . '/desbrun1996-fig6.png'
set terminal pngcairo size 1400,640 font 'DejaVu Sans,14'
stats data . '/frames.tsv' skip 1 using 2 nooutput
frames = int(STATS_records)
array time[frames]
stats data . '/frames.tsv' skip 1 using (time[int($0) + 1] = $2, 0) nooutput
unset key
set xrange [-16:16]
set yrange [-1:14]
set size ratio -1
set xlabel 'x, m'
set ylabel 'y, m'
set multiplot layout 2,3 margins 0.06,0.985,0.12,0.87 spacing 0.06,0.2 title 'A drop of 80 smoothed particles falls: line where the density is 2 m W(h)' . quick
do for [f=1:frames] {
    set title sprintf('t = %.1f s', time[f])
    set arrow 1 from -16,-0.5 to 16,-0.5 nohead lw 2 lc rgb 'gray30'
    plot data . '/contour.tsv' using ($1 == f - 1 ? $2 : NaN):3:4:5 with vectors nohead lw 1.8 lc rgb '#1b3a6b', \
         data . '/particles.tsv' using ($1 == f - 1 ? $2 : NaN):3 with points pt 7 ps 0.35 lc rgb 'gray40'
}
unset multiplot
