load style
set output out . '/rodero2016-fig6.png'
set terminal pngcairo size 1300,520 font 'DejaVu Sans,14'
set multiplot layout 1,3 margins 0.01,0.99,0.02,0.86 spacing 0.01,0.05 title "forces on the top nodes, the held base, and FEM" . quick
unset border
unset tics
unset key
unset grid
set view 68,28,1.05,1
set view equal xyz
set xrange [-1.8:1.8]
set yrange [-1.8:1.8]
set zrange [-0.3:3.2]
array tests[3] = ['torsion', 'shear', 'traction']
array said[3] = ['torsion about z', 'shear along x', 'traction along z']
do for [t=1:3] {
    file = data . '/' . tests[t] . '.tsv'
    set title said[t] offset 0,0.5
    splot file using 2:3:($1 == 0 ? $4 : NaN):5:6:7 with vectors nohead lc rgb 'gray70' lw 3, \
          file using 2:3:($1 == 1 ? $4 : NaN):5:6:7 with vectors nohead lc rgb 'black' lw 1.6, \
          file using 2:3:($1 == 3 ? $4 : NaN) with points pt 5 ps 1.4 lc rgb '#1b3a6b', \
          file using 2:3:($1 == 2 ? $4 : NaN):5:6:7 with vectors filled lc rgb '#c2571a' lw 2.5
}
unset multiplot
