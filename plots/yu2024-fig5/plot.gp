load style
set output out . '/yu2024-fig5.png'
set terminal pngcairo size 1500,780 font 'DejaVu Sans,14'
set multiplot layout 2,3 margins 0.075,0.975,0.09,0.94 spacing 0.06,0.16
array name[4] = ['(a) at the start', '(b) after 25 ms', '(c) after 100 ms', '(d) without a flow rule, after 100 ms']
set palette defined (1 '#c9b18a', 2 '#1b3a6b', 3 '#c2571a', 4 '#2e7d4f', 5 '#8a3a8f', 6 '#5aa0c8', 7 '#7a5a20', 8 '#d08aa0')
set cbrange [1:8]
unset colorbox
unset key
unset grid
do for [k=0:3] {
  set title name[k + 1] . quick
  set xlabel 'x + 0.35 y, m'
  set ylabel 'z + 0.25 y, m' offset 1,0
  set ytics 0.1
  set xrange [-0.38:0.38]
  set yrange [-0.12:0.26]
  set size ratio -1
  file = data . '/views.tsv'
  plot file using ($1 == k && $5 > 0 ? $2 + 0.35 * $3 : NaN):($4 + 0.25 * $3):(1 + ($5 - 1 > 7 ? 7 : $5 - 1)) with points pt 7 ps 1.15 palette, \
       file using ($1 == k && $5 == 0 ? $2 + 0.35 * $3 : NaN):($4 + 0.25 * $3) with points pt 7 ps 0.35 lc rgb 'black'
}
set grid
set size noratio
set key top left
set ytics auto
set xtics 500
set xlabel 'particles'
set xrange [*:*]
set yrange [0:*]
set offsets graph 0.15, graph 0.15, graph 0.3, 0
file = data . '/pieces.tsv'
set title '(e) pieces of 1 % or more' . quick
set ylabel ''
plot file using (strcol(2) eq 'candy' ? $1 : NaN):3 with linespoints ls 1 title 'candy', \
     file using (strcol(2) eq 'elastic' ? $1 : NaN):3 with linespoints ls 2 title 'without a flow rule'
set title "(f) the largest piece's share" . quick
set yrange [0:1.6]
unset offsets
set offsets graph 0.15, graph 0.15, 0, 0
plot file using (strcol(2) eq 'candy' ? $1 : NaN):4 with linespoints ls 1 title 'candy', \
     file using (strcol(2) eq 'elastic' ? $1 : NaN):4 with linespoints ls 2 title 'without a flow rule'
unset multiplot
