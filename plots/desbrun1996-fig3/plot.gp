load style
set output out . '/desbrun1996-fig3.png'
set terminal pngcairo size 1300,560 font 'DejaVu Sans,14'
set multiplot layout 1,2 margins 0.085,0.985,0.13,0.9 spacing 0.09,0.1
set xlabel 'distance / h'
set ylabel 'force, k m/h'
set xrange [0:2.2]
set xzeroaxis lc rgb 'gray50' lw 0.7
set key top right
set title '(a) with the cubic spline' . quick
plot data . '/spline.tsv' using 1:2 with lines ls 1 title 'in space', \
     data . '/spline.tsv' using 1:3 with lines ls 2 title 'in the plane'
set title "(b) with the paper's kernel"
# 24 e (2 (s/r)^13 - (s/r)^7)/s, 0 at r = 1: s = 2^(-1/6); as deep as the force in space
s = 2**(-1./6)
shape(r) = 2 * (s / r)**13 - (s / r)**7
depth = shape((26. / 7)**(1./6) * s)
set yrange [-0.1:0.75]
plot data . '/spiky.tsv' using 1:2 with lines ls 1 title 'in space', \
     data . '/spiky.tsv' using 1:3 with lines ls 2 title 'in the plane', \
     [0.7:2.2] -0.0278 * shape(x) / depth with lines ls 4 title 'Lennard-Jones, as deep'
unset multiplot
