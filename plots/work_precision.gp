# `pbdbench plot work-precision`: error against time or memory, one kind of point a series, the Pareto front as a line with
# numbers, which are named under the picture. Set by the program: file (a block for each series, its name first, and the
# front last), series (how many), xname, yname, heading, footer (lines that end in '|'), letters (their font), share and
# line (of the height: the footer's, and of one line of it), terminal, target, style.
load style
eval 'set terminal ' . terminal
set output target
n = int(series)
stats file using 1:2 skip 1 nooutput
set logscale xy
# Below a decade and a half, powers of ten alone would leave an axis bare.
if (STATS_max_x < 30 * STATS_min_x) { set logscale x 2; set format x '%.3g' } else { set format x '10^{%T}' }
if (STATS_max_y < 30 * STATS_min_y) { set logscale y 2; set format y '%.3g' } else { set format y '10^{%T}' }
set xrange [STATS_min_x / 1.6 : STATS_max_x * 1.8]
set yrange [STATS_min_y / 1.6 : STATS_max_y * 1.8]
set title heading noenhanced
set xlabel xname noenhanced
set ylabel yname noenhanced
set key outside top center horizontal noenhanced maxcols 3
if (share > 0) {
    set bmargin at screen share + 0.12 * (1 - share)
    rest = footer
    y = share
    do for [i=1:80] {
        bar = strstrt(rest, '|')
        if (bar > 0) {
            set label i rest[1:bar-1] at screen 0.03, screen y noenhanced font letters
            rest = rest[bar+1:strlen(rest)]
            y = y - line
        }
    }
}
array kinds[12] = [7, 5, 9, 13, 4, 6, 8, 12, 11, 10, 2, 3]
array colours[6] = ['#1b3a6b', '#c2571a', '#2e7d4f', '#8a3a8f', '#6b6b6b', '#000000']
plot file index n using 1:2 skip 1 with steps linewidth 1.6 dashtype 2 linecolor rgb 'gray40' title 'Pareto front', \
     for [i=0:n-1] file index i using 1:2 with points pointtype kinds[i % 12 + 1] pointsize 1.5 \
         linecolor rgb colours[i % 6 + 1] title columnheader(1), \
     file index n using 1:2 skip 1 with points pointtype 6 pointsize 2.6 linecolor rgb 'black' notitle, \
     file index n using 1:2:(column(3) > 0 && column(4) == 0 ? sprintf('%d', column(3)) : '') skip 1 with labels \
         offset -1.1,-0.8 noenhanced notitle, \
     file index n using 1:2:(column(4) == 1 ? sprintf('%d', column(3)) : '') skip 1 with labels \
         offset 1.1,0.8 noenhanced notitle
