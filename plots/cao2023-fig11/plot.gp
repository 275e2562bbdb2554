load style
set output out . '/cao2023-fig11.png'
set terminal pngcairo size 1500,1060 font 'DejaVu Sans,14'
array panel[5] = ['(a) CMLSRK: constant basis, corrected', '(b) MLSRK: constant basis', '(c) CSPK-PBD: both corrections', '(d) SPH-PBD: no correction', 'baseline: MLSRK, linear basis']
set palette defined (0 '#c9d6ea', 0.3 '#5c86bf', 0.55 '#2f4f86', 0.75 '#b0532a', 1 '#6b1d0c')
set cbrange [0:0.6]
# The frame: where the exact ones are, which do not move.
stats data . '/layers.tsv' using ($1 == 4 ? $2 : NaN) name 'X' nooutput
stats data . '/layers.tsv' using ($1 == 4 ? $3 : NaN) name 'Y' nooutput
half = 1.25 * (X_max > Y_max ? X_max : Y_max)
set multiplot
unset grid
unset key
unset colorbox
set border 0
unset tics
set lmargin 0
set rmargin 0
set tmargin 0
set bmargin 0
set xrange [-half:half]
set yrange [-half:half]
set object 1 rectangle from X_min, Y_min to X_max, Y_max fillstyle empty border linecolor rgb 'gray40' linewidth 1 front
wide = 0.29
tall = wide * 1500 / 1060
do for [k=0:4] {
    set size wide, tall
    set origin 0.02 + (k % 3) * (wide + 0.04), (k < 3 ? 0.55 : 0.07)
    set title panel[k + 1] . quick offset 0, -1
    plot data . '/layers.tsv' using ($1 == k ? $2 : NaN):3:4 with points pointtype 7 pointsize 0.6 linecolor palette
}
unset object 1
# What the colours mean.
set size 0.5, 0.05
set origin 0.02, 0.01
unset title
set colorbox user horizontal origin screen 0.06, screen 0.055 size screen 0.46, screen 0.018
set cbtics out nomirror scale 0.5 ('0' 0, '0.15' 0.15, '0.3' 0.3, '0.45' 0.45, '0.6 and more' 0.6)
set label 1 'relative error of F at the start' at screen 0.54, screen 0.062 left
set xrange [0:1]
set yrange [0:1]
plot '+' using 1:(-1):(0) with points palette pointtype 0
unset label 1
unset colorbox
# By variant.
set border 3
set xtics nomirror scale 0.6
set ytics nomirror scale 0.6
set origin 0.72, 0.17
set size 0.265, 0.34
set title 'mean relative error of F' . quick offset 0, 0
set logscale y
set format y '10^{%T}'
set yrange [1e-17:1e3]
set ytics (1e-16, 1e-12, 1e-8, 1e-4, 1)
set xrange [-0.6:4.6]
set xtics rotate by 35 right font ',12'
set grid y
set boxwidth 0.36
set key top left horizontal samplen 1.5 font ',12'
plot data . '/errors.tsv' using ($1 - 0.19):3:xticlabels(2) with boxes fillstyle solid 0.9 linecolor rgb '#5c86bf' title 'inner', \
     data . '/errors.tsv' using ($1 + 0.19):4 with boxes fillstyle pattern 2 linecolor rgb '#6b1d0c' title 'all'
unset multiplot
