load style
set output out . '/cao2023-fig10.png'
set terminal pngcairo size 1400,1100 font 'DejaVu Sans,14'
set multiplot layout 3,1 margins 0.08,0.98,0.07,0.95 spacing 0.1,0.11
set title '(a) height of the centre of mass, C = Ψ' . quick
set ylabel 'm'
set xrange [0:*]
set key top right horizontal
array name[4] = ['2 × 60', '4 × 15', '10 × 3', '21 × 1']
plot for [s = 1:4] data . '/height.tsv' using 1:s + 1 with lines ls s title name[s]
array pair[4] = ['2 × 60 and 4 × 15', '4 × 15 and 10 × 3', '10 × 3 and 21 × 1', '2 × 60 and 21 × 1']
set ylabel 'distance over height'
set yrange [0:*]
set title '(b) distance of two settings, C = Ψ' . quick
plot for [s = 1:4] data . '/printed.tsv' using 1:s + 1 with lines ls s title pair[s]
set title '(c) distance of two settings, C = √(2Ψ)' . quick
set xlabel 'time, s'
plot for [s = 1:4] data . '/root.tsv' using 1:s + 1 with lines ls s title pair[s]
unset multiplot
