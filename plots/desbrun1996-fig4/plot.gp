load style
set output out . '/desbrun1996-fig4.png'
set terminal pngcairo size 1400,780 font 'DejaVu Sans,14'
stats data . '/frames.tsv' skip 1 using 2:3 nooutput
frames = int(STATS_records)
array time[frames]
array tip[frames]
array pieces[frames]
stats data . '/frames.tsv' skip 1 using (time[int($0) + 1] = $2, tip[int($0) + 1] = $3, pieces[int($0) + 1] = $4, 0) nooutput
unset key
unset grid
unset colorbox
set palette gray negative
set cbrange [0:2.4]
set xrange [-11:11]
set yrange [-1:11]
set size ratio -1
set xlabel 'x, m'
set ylabel 'y, m'
set multiplot layout 2,3 margins 0.06,0.895,0.1,0.89 spacing 0.06,0.16 title 'A rigid tool cuts 80 smoothed particles: density in grey, line where it is 2 m W(h)' . quick
do for [f=1:frames] {
    if (f == 3) {
        set colorbox user origin 0.912,0.3 size 0.012,0.4
        set cblabel 'density, kg/m²' offset 1.5,0
    } else {
        unset colorbox
    }
    set title sprintf('t = %.1f s: %d %s', time[f], pieces[f], pieces[f] == 1 ? 'piece' : 'pieces')
    set object 1 rectangle from -1.2,(tip[f] + 1.2) to 1.2,11 fillcolor rgb '#9db7dd' fillstyle solid 1 border lc rgb '#1b3a6b' front
    set object 2 circle at 0,(tip[f] + 1.2) size 1.2 fillcolor rgb '#9db7dd' fillstyle solid 1 border lc rgb '#1b3a6b' front
    set arrow 1 from -11,-0.5 to 11,-0.5 nohead lw 2 lc rgb 'gray30'
    plot data . '/field.tsv' using ($1 == f - 1 ? $2 : NaN):3:4 with points pt 5 ps 0.55 lc palette, \
         data . '/contour.tsv' using ($1 == f - 1 ? $2 : NaN):3:4:5 with vectors nohead lw 1.5 lc rgb '#c2571a', \
         data . '/particles.tsv' using ($1 == f - 1 ? $2 : NaN):3 with points pt 7 ps 0.35 lc rgb 'black'
}
unset multiplot
