load style
set terminal pngcairo size 1400,620 font 'DejaVu Sans,14'
set output out . '/rodero2016-text.png'
set multiplot layout 1,2 title 'One cube in shear, ν = 0.3, k fitted once' . quick
set logscale xy
set ylabel 'displacement over that of FEM'
set key top left
set title 'against the time step'
set xlabel 'Δt over the fitted Δt (Eq. 10)'
plot data . '/time_step.tsv' using 1:2 with linespoints ls 1 title 'after projection', \
     data . '/time_step.tsv' using 1:3 with linespoints ls 2 title 'before projection'
set key top right
set title 'against the number of iterations'
set xlabel 'iterations a step'
plot data . '/iterations.tsv' using 1:2 with linespoints ls 1 title 'Jacobi', \
     data . '/iterations.tsv' using 1:3 with linespoints ls 2 title 'coloured Gauss-Seidel'
unset multiplot
