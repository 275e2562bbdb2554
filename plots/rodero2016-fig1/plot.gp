load style
set terminal pngcairo size 1300,760 font 'DejaVu Sans,14'
set output out . '/rodero2016-fig1.png'
set multiplot layout 1,2 margins 0.01,0.99,0.02,0.94 spacing 0.01,0.06 title "5 × 5 × 5 mesh, ν = 0.2: FEM thick grey, PBD black" . quick
unset border
unset tics
unset key
unset grid
set view 72,28,1.15,1
set view equal xyz
set xrange [-1.7:1.7]
set yrange [-1.7:1.7]
set zrange [0:2.3]
file = data . '/torsion.tsv'
panel = '0.2'
set title 'torsion' offset 0,0.6
splot file using 2:3:(strcol(1) eq panel ? $4 : NaN):5:6:7 with vectors nohead lc rgb 'gray70' lw 4, \
      file using 8:9:(strcol(1) eq panel ? $10 : NaN):11:12:13 with vectors nohead lc rgb 'black' lw 1.5
file = data . '/shear.tsv'
panel = '0.2'
set title 'shear' offset 0,0.6
splot file using 2:3:(strcol(1) eq panel ? $4 : NaN):5:6:7 with vectors nohead lc rgb 'gray70' lw 4, \
      file using 8:9:(strcol(1) eq panel ? $10 : NaN):11:12:13 with vectors nohead lc rgb 'black' lw 1.5

unset multiplot
