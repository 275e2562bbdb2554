load style
set terminal pngcairo size 1800,760 font 'DejaVu Sans,13'
set output out . '/rodero2016-fig7.png'
set multiplot layout 2,6 margins 0.01,0.99,0.02,0.90 spacing 0.005,0.06 title "One element: FEM thick grey, PBD black. Upper row small load (0.1 m), lower row large load (0.3 m)" . quick
unset border
unset tics
unset key
unset grid
set view 72,28,1.2,1
set view equal xyz
set xrange [-1.6:1.6]
set yrange [-1.6:1.6]
set zrange [0:2.6]
array tests[2] = ['shear', 'torsion']
array nus[3] = ['0', '0.4', '0.49']
do for [load_name in 'small large'] {
    do for [t=1:2] {
        do for [k=1:3] {
            file = data . '/' . tests[t] . '.tsv'
            panel = nus[k] . ' ' . load_name
            set title tests[t] . ', ν = ' . nus[k] . ', ' . load_name offset 0,-1
            splot file using 2:3:(strcol(1) eq panel ? $4 : NaN):5:6:7 with vectors nohead lc rgb 'gray70' lw 4, \
                  file using 8:9:(strcol(1) eq panel ? $10 : NaN):11:12:13 with vectors nohead lc rgb 'black' lw 1.6
        }
    }
}
unset multiplot
