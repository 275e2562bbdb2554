load style
set terminal pngcairo size 1600,620 font 'DejaVu Sans,13'
set output out . '/cao2023-text.png'
set multiplot layout 1,3 margins 0.06,0.985,0.14,0.88 spacing 0.075,0.1
set title '(a) time of a constraint solve' . quick
set ylabel 'ns on one thread' offset 0.8
set xrange [0.4:3.6] # the header is the row 0
set yrange [0:*]
set offsets 0, 0, graph 0.5, 0 # room for the key
set style data histograms
set style histogram clustered gap 1
set boxwidth 0.9
set key top right
file = data . '/cost.tsv'
plot file using 2:xtic(1) fill solid 0.85 linecolor rgb '#1b3a6b' title 'particle', \
     file using 3 fill pattern 2 linecolor rgb '#1b3a6b' title 'particle, joined', \
     file using 4 fill solid 0.85 linecolor rgb '#c2571a' title 'tetrahedron', \
     file using 5 fill pattern 2 linecolor rgb '#c2571a' title 'tetrahedron, joined'
set title '(b) a pulled bar' . quick
set xlabel 'norm of the deviator of Green''s strain'
set ylabel 'nominal stress over E'
set xrange [0:0.3]
unset offsets
set yrange [0:*]
set key top left Left reverse
set arrow 1 from 0.1, graph 0 to 0.1, graph 1 nohead linecolor rgb 'gray40' dashtype 2
file = data . '/pulled.tsv'
array law[3] = ['stvk', 'corotated', 'neo_hookean']
array name[3] = ['StVK', 'corotated', 'Neo-Hookean']
plot for [l = 1:3] file using 2:(strcol(1) eq law[l] ? $3 : NaN) with lines ls l title name[l]
unset arrow 1
set title '(c) let go in vacuum' . quick
set xlabel 'time, s'
set ylabel 'distance from the shape at rest'
set logscale y
set format y '10^{%L}'
set xrange [0:*]
set yrange [1e-3:100]
set key top right Left reverse maxrows 3 width -5 samplen 2 font ',11'
file = data . '/shapes.tsv'
array start[6] = ['plane', 'line', 'point', 'inside_out', 'scaled', 'random']
array label[6] = ['a plane', 'a line', 'a point', 'inside out', 'scaled into a ball', 'strewn in a ball']
plot for [s = 1:6] file using 2:(strcol(1) eq start[s] ? $3 : NaN) with lines ls s title label[s]
unset multiplot
