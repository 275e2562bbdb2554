load style
set terminal pngcairo size 1500,1150 font 'DejaVu Sans,13'
set output out . '/rodero2016-beyond.png'
set multiplot layout 2,2
set xlabel "Poisson's ratio ν"
set xrange [0:0.5]
set yrange [0:*]
set key top left
set title 'fit to K_{FEM}: printed or standard shear entries of D' . quick
set ylabel 'relative error of the fit e_r'
plot data . '/conventions.tsv' using 1:2 with lines ls 1 title 'D as printed', \
     data . '/conventions.tsv' using 1:3 with lines ls 2 title 'standard D'
set title 'mean displacement error of torsion, shear and traction'
set ylabel 'displacement error'
plot data . '/tests.tsv' using 1:2 with linespoints ls 1 title 'K fitted, printed D', \
     data . '/tests.tsv' using 1:3 with linespoints ls 2 title 'tests fitted, printed D', \
     data . '/tests.tsv' using 1:4 with linespoints ls 3 title 'K fitted, standard D', \
     data . '/tests.tsv' using 1:5 with linespoints ls 4 title 'tests fitted, standard D', \
     data . '/tests.tsv' using 1:6 with linespoints ls 5 title 'K fitted, base w = 0', \
     data . '/tests.tsv' using 1:7 with linespoints ls 6 title 'tests fitted, base w = 0'
set title 'iterations inside the fit'
set ylabel 'relative error of the fit e_r'
set key top right
array n[4] = ['1', '2', '4', '8']
plot for [i=1:4] data . '/fit_with_iterations.tsv' using 1:(column(i+1)) with linespoints ls i title n[i] . (i == 1 ? ' iteration' : ' iterations')
set title 'stiffness in shear away from the fitted step, ν = 0.3'
set ylabel 'stiffness over that of the fit'
set xlabel 'Δt over the fitted Δt, or iterations a step'
set logscale x 2
set logscale y
set xrange [0.4:80]
set yrange [0.1:1000]
set key top left
plot data . '/time_step.tsv' using 1:2 with linespoints ls 1 title 'time step', \
     data . '/iterations.tsv' using 1:2 with linespoints ls 2 title 'iterations', \
     data . '/labels.tsv' using 1:2:3 with labels left offset 1.5,-0.6 font ',11' notitle
unset multiplot
