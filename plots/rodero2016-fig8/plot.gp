load style
set terminal pngcairo size 1100,1500 font 'DejaVu Sans,14'
set output out . '/rodero2016-fig8.png'
set multiplot layout 3,1 margins 0.09,0.97,0.05,0.94 spacing 0.05,0.085 title 'Relative deformation error, small load' . quick
set xlabel "Poisson's ratio ν"
set ylabel 'Σ‖u_{PBD} − u_{FEM}‖ / Σ‖u_{FEM}‖'
set xrange [0:0.5]
set yrange [0:*]
array tests[3] = ['shear', 'torsion', 'traction']
array notes[3] = ['paper: under 10 % here', '', 'paper: under 25 % here']
array limits[3] = [0.1, 0, 0.25]
array ends[3] = [0.45, 0, 0.49]
do for [t=1:3] {
    file = data . '/' . tests[t] . '.tsv'
    unset object 1
    unset label 1
    if (limits[t] > 0) {
        set object 1 rectangle from 0.29, 0 to ends[t], limits[t] fillcolor rgb 'gray90' fillstyle solid noborder behind
        set label 1 notes[t] at 0.295, limits[t] * (t == 3 ? 0.92 : 0.5) textcolor rgb 'gray30'
    }
    set title tests[t]
    if (t == 2) { set key top left } else { unset key }
    plot file using 1:2 with lines ls 1 title 'base put back, Jacobi', \
         file using 1:4 with lines ls 2 title 'base put back, Gauss-Seidel', \
         file using 1:3 with lines ls 3 title 'base w = 0, Jacobi', \
         file using 1:5 every 3 with points ls 4 title 'large load (base put back, Jacobi)'
}
unset multiplot
