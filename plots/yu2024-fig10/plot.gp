load style
set output out . '/yu2024-fig10.png'
set terminal pngcairo size 1600,820 font 'DejaVu Sans,13'
set multiplot
slices = data . '/slices.tsv'
array mu[3] = ['500', '5,000', '50,000']
array eta[2] = ['10', '100']
set xrange [-0.09:0.09]
set yrange [0:0.08]
set xtics 0.05
set ytics 0.02
unset key
do for [row=0:1] {
  do for [col=0:2] {
    set title sprintf('μ = %s Pa, %s Pa s', mu[col + 1], eta[row + 1]) . quick
    set xlabel (row == 1 ? 'x, m' : '')
    set ylabel (col == 0 ? 'z, m' : '')
    set lmargin at screen 0.05 + 0.225 * col
    set rmargin at screen 0.05 + 0.225 * col + 0.195
    set tmargin at screen 0.93 - 0.47 * row
    set bmargin at screen 0.58 - 0.47 * row
    plot slices using ($1 == col && $2 == row ? $3 : NaN):4 with points pt 7 ps 0.7 lc rgb '#7a8f5a'
  }
}
set lmargin at screen 0.775
set rmargin at screen 0.985
set xrange [300:90000]
set yrange [*:*]
set xtics auto
set ytics auto
set logscale x
set format x '10^{%L}'
set xlabel ''
set ylabel ''
set title 'height of coils, diameters' . quick
set tmargin at screen 0.93
set bmargin at screen 0.58
set yrange [0:*]
set key bottom right
plot data . '/coils.tsv' using 1:2 with linespoints ls 1 title '10 Pa s', '' using 1:3 with linespoints ls 2 title '100 Pa s'
set title 'strain that would come back' . quick
set tmargin at screen 0.46
set bmargin at screen 0.11
set xlabel 'μ, Pa'
set logscale y
set yrange [*:*]
set format y '10^{%L}'
set key top right
plot data . '/coils.tsv' using 1:4 with linespoints ls 1 title '10 Pa s', '' using 1:5 with linespoints ls 2 title '100 Pa s'
unset multiplot
