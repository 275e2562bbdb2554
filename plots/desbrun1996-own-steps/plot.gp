load style
set output out . '/desbrun1996-own-steps.png'
set terminal pngcairo size 1500,600 font 'DejaVu Sans,14'
set multiplot layout 1,3 margins 0.07,0.985,0.13,0.9 spacing 0.07,0.1
set logscale xy
set yrange [*:*]
set format y '10^{%T}'
set format x '10^{%T}'
set ylabel 'error, m'
names = '"own, limiter 4" "own, no limiter" "own, predicted densities" "one for all" "fixed"'
do for [panel=1:3] {
    v = panel == 3 ? 0 : 20
    column = panel == 2 ? 6 : 4
    set title (panel == 1 ? '(a) violent: force evaluations' : panel == 2 ? '(b) violent: processor time' : '(c) calm: force evaluations') . quick
    set xlabel panel == 2 ? 'time, s' : 'force evaluations'
    if (panel == 1) { set key top right font ',11' } else { unset key }
    plot for [k=1:5] data . '/points.tsv' using ($1 == k && abs($2 - v) < 1e-9 ? column(column) : NaN):3 with linespoints ls k title word(names, k)
}
unset multiplot
