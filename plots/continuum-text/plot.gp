load style
set output out . '/continuum-text.png'
set terminal pngcairo size 1300,1000 font 'DejaVu Sans,14'
set multiplot layout 2,2 margins 0.085,0.985,0.075,0.955 spacing 0.095,0.135

set title '(a) what k projections leave of a stretch'
set xlabel 'projections'
set ylabel 'residual over that of the start'
set xrange [0.8:5.2]
set xtics 1
set logscale y
set format y '10^{%T}'
set yrange [1e-18:10]
set key top right
plot data . '/left.tsv' using 1:3 with linespoints ls 2 title 'squared length', \
     '' using 1:2 with linespoints ls 1 title 'length (0 is drawn as 10^{-17})'

set title '(b) shear constraint: change of length by a projection'
unset logscale
set format y '%g'
set xlabel 'shear'
set ylabel 'largest change over largest move'
set xrange [0:0.52]
set xtics autofreq
set yrange [0:1.9]
set key top left reverse Left
plot data . '/shear.tsv' using 1:2 with linespoints ls 2 title 'naive, corners free', \
     '' using 1:3 with linespoints ls 1 title 'normalised, corners free', \
     '' using 1:4 with linespoints ls 4 title 'naive, last corner held', \
     '' using 1:5 with linespoints ls 3 title 'normalised, last corner held'

set title '(c) lateral contraction of a hanging bar'
set xlabel 'ν'
set ylabel 'lateral over axial strain'
set xrange [-0.02:0.47]
set yrange [-0.02:0.5]
plot data . '/poisson.tsv' using 1:2 with lines lc rgb 'gray30' dt 3 title 'uniaxial stress', \
     '' using 1:4 with linespoints ls 2 title 'C = √(2Ψ), XPBD', '' using 1:3 with linespoints ls 1 title 'C = VΨ, PBD'

set title '(d) one strain constraint alone: change over its own'
set xlabel 'constraint'
set ylabel 'measure'
set xrange [0.5:6.5]
set yrange [6.5:0.5]
set xtics ('x' 1, 'y' 2, 'z' 3, 'xy' 4, 'yz' 5, 'zx' 6)
set ytics ('x' 1, 'y' 2, 'z' 3, 'xy' 4, 'yz' 5, 'zx' 6)
unset grid
unset key
set cbrange [0:1]
set palette defined (0 'white', 1 '#1b3a6b')
unset colorbox
plot data . '/modes.tsv' using 1:2:3 with image, '' using 1:2:(sprintf('%.2f', $3)):($3 > 0.5 ? 0xffffff : 0x202020) with labels tc rgb variable
unset multiplot
