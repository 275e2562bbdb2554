load style
set output out . '/desbrun1996-fig5.png'
set terminal pngcairo size 1400,440 font 'DejaVu Sans,14'
set xrange [-1.35:3.45]
set yrange [-1.35:1.35]
set size ratio -1
set xlabel 'x / h'
set ylabel 'y / h'
apart = '1 1.9 2.1'
set multiplot layout 1,3 margins 0.06,0.985,0.28,0.9 spacing 0.06,0.1
do for [k=1:3] {
    d = real(word(apart, k))
    set title sprintf('%.1f h apart', d) . quick
    set object 1 circle at 0,0 size 1 front fillstyle empty border lc rgb 'gray60' dt 3
    set object 2 circle at d,0 size 1 front fillstyle empty border lc rgb 'gray60' dt 3
    if (k == 1) {
        set key at screen 0.5,0.02 center bottom horizontal
    } else {
        unset key
    }
    plot data . '/contour.tsv' using ($1 == d && $2 == 2 ? $3 : NaN):4:5:6 with vectors nohead ls 1 title '2 m W(h)', \
         data . '/contour.tsv' using ($1 == d && $2 == 1 ? $3 : NaN):4:5:6 with vectors nohead lw 1.4 lc rgb '#c2571a' title 'm W(h)', \
         '+' using (0):(0) every ::0::0 with points pt 7 ps 0.8 lc rgb 'black' notitle, \
         '+' using (d):(0) every ::0::0 with points pt 7 ps 0.8 lc rgb 'black' notitle
}
unset multiplot
