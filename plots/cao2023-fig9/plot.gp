load style
set output out . '/cao2023-fig9.png'
set terminal pngcairo size 1400,640 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.07,0.98,0.12,0.92 spacing 0.09,0.1
set title '(a) own weight, ν = 0.3' . quick
set logscale xy
set xlabel "Young's modulus, Pa"
set ylabel 'sag, m'
set format x '10^{%L}'
set format y '10^{%L}'
set xrange [4e4:1.3e6]
set yrange [1e-6:0.5]
set key bottom left reverse Left
plot data . '/sag.tsv' using 1:2 with lines ls 5 title 'uniaxial stress', \
     data . '/sag.tsv' using 1:3 with points ls 6 pt 6 ps 1.6 title 'FEM, hex8', \
     data . '/sag.tsv' using 1:4 with linespoints ls 1 title 'C = √(2Ψ)', \
     data . '/sag.tsv' using 1:5 with linespoints ls 2 title 'C = Ψ as printed, 20 iterations', \
     data . '/sag.tsv' using 1:6 with linespoints ls 3 title 'C = Ψ as printed, 200 iterations', \
     data . '/particles_sag.tsv' using 1:2 with linespoints dt 1 lw 1.5 pt 4 ps 1.4 lc rgb 'black' title 'particles, C = √(2Ψ)', \
     '' using 1:3 with linespoints dt 3 lw 2 pt 8 ps 1.4 lc rgb 'black' title 'particles, C = Ψ as printed'
unset logscale
set title '(b) pulled below, E = 10^{5} Pa' . quick
set xlabel "Poisson's ratio"
set ylabel 'lateral over axial strain'
set format x '%g'
set format y '%g'
set xrange [-0.02:0.5]
set yrange [-0.02:0.5]
set key bottom right reverse Left
plot data . '/contraction.tsv' using 1:2 with lines ls 5 title 'uniaxial stress', \
     data . '/contraction.tsv' using 1:3 with points ls 6 pt 6 ps 1.6 title 'FEM, hex8', \
     data . '/contraction.tsv' using 1:4 with linespoints ls 1 title 'C = √(2Ψ)', \
     data . '/contraction.tsv' using 1:5 with linespoints ls 2 title 'C = Ψ as printed', \
     data . '/particles_contraction.tsv' using 1:2 with linespoints dt 1 lw 1.5 pt 4 ps 1.4 lc rgb 'black' title 'particles, C = √(2Ψ)', \
     '' using 1:3 with linespoints dt 3 lw 2 pt 8 ps 1.4 lc rgb 'black' title 'particles, C = Ψ as printed'
unset multiplot
