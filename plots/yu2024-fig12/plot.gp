load style
set output out . '/yu2024-fig12.png'
set terminal pngcairo size 1500,900 font 'DejaVu Sans,14'
set multiplot layout 2,3 margins 0.07,0.985,0.09,0.95 spacing 0.06,0.11
array hit[3] = ['(a) before the hit', '(b) after 37 ms', '(c) after 150 ms']
array dive[3] = ['(d) before the fall', '(e) after 100 ms', '(f) after 200 ms']
set palette defined (1 '#8fb0cc', 2 '#1b3a6b', 3 '#c2571a', 4 '#2e7d4f', 5 '#8a3a8f', 6 '#5aa0c8', 7 '#7a5a20', 8 '#d08aa0')
set cbrange [1:8]
unset colorbox
unset key
unset grid
set size ratio -1
# The person of cases/scenes/person.c from the side: ends of the capsules and their radii over the height.
$person << EOD
-0.005 0.91 0.005 0.93 0.075
0 0.8 0 0.88 0.04
0 0.73 0 0.73 0.085
0 0.56 0 0.7 0.09
0 0.52 0 0.52 0.075
0 0.78 0.01 0.62 0.038
0.01 0.62 -0.06 0.48 0.033
0 0.5 0 0.05 0.05
0.02 0.035 -0.09 0.035 0.035
EOD
set datafile separator whitespace
do for [k=0:2] {
  set title hit[k + 1] . quick
  set xlabel 'x, m'
  set ylabel 'z, m'
  set xrange [-0.55:0.65]
  set yrange [0:1]
  h = 0.9
  file = data . '/hits.tsv'
  plot for [s=0:24] $person using (h * ($1 + s / 24.0 * ($3 - $1))):(h * ($2 + s / 24.0 * ($4 - $2))):(h * $5) with circles fc rgb '#b9a48c' fs solid noborder, \
       file using (column(1) == k && $5 > 0 ? $2 : NaN):4:(1 + ($5 - 1 > 7 ? 7 : $5 - 1)) with points pt 7 ps 0.8 palette, \
       file using (column(1) == k && $5 == 0 ? $2 : NaN):4 with points pt 7 ps 0.3 lc rgb 'black'
}
do for [k=0:2] {
  set title dive[k + 1] . quick
  set xrange [-0.29:0.29]
  set yrange [0:0.34]
  set ytics 0.1
  h = 0.25
  # Lying on the face, the head at -x: x becomes -z of the standing one, z becomes x. Its lowest point is its knees' or toes'.
  foot = k == 0 ? 0.17 : 0.08
  lowest = -0.125
  file = data . '/dives.tsv'
  plot for [s=0:24] $person using (-h * ($2 + s / 24.0 * ($4 - $2) - 0.5)):(foot + h * ($1 + s / 24.0 * ($3 - $1) - lowest)):(h * $5) with circles fc rgb '#b9a48c' fs solid noborder, \
       file using (column(1) == k ? $2 : NaN):4 with points pt 7 ps 0.9 lc rgb '#5f86ad'
}
unset multiplot
