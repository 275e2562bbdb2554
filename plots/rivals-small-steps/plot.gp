load style
set output out . '/rivals-small-steps.png'
set terminal pngcairo size 1700,640 font 'DejaVu Sans,14'
set multiplot layout 1,3 margins 0.055,0.985,0.115,0.925 spacing 0.07,0.1
of(s, c) = strcol(1) eq s ? column(c) : NaN
both(s, way, c) = (strcol(1) eq s && strcol(2) eq way) ? column(c) : NaN
array key_of[4] = ['vbd', 'newton', 'root', 'six']
array name[4] = ['VBD', 'quasi-Newton', 'XPBD √(2Ψ)', 'XPBD, six strains']
array of_style[4] = [1, 3, 2, 4]
set logscale x 2
set xrange [0.9:36]
set xlabel 'substeps n of a frame, 32/n iterations in each'
set ylabel 'distance of the tip over its path, rms'
set yrange [0:*]
set key top right
set title '(a) distance, n k = 32'
plot for [j=1:4] data . '/splits.tsv' using (of(key_of[j], 2)):(of(key_of[j], 4)) with linespoints ls of_style[j] title name[j]
set ylabel 'of the energy, kept by a period'
set yrange [0:1.05]
unset key
set title '(b) energy, n k = 32'
plot 1 with lines lc rgb 'gray60' dt 3 notitle, \
     for [j=1:4] data . '/splits.tsv' using (of(key_of[j], 2)):(of(key_of[j], 5)) with linespoints ls of_style[j] notitle
set xlabel 'budget n k in a frame of 20 ms'
set ylabel 'distance of the tip over its path, rms'
set logscale y
set yrange [0.03:100]
set key top right width -8
set title '(c) by the budget'
plot for [j=1:4:3] data . '/budgets.tsv' using (both(key_of[j], 'iterations', 3)):(both(key_of[j], 'iterations', 4)) \
         with linespoints ls of_style[j] dt 2 title name[j] . ', one step', \
     for [j=1:4:3] data . '/budgets.tsv' using (both(key_of[j], 'substeps', 3)):(both(key_of[j], 'substeps', 4)) \
         with linespoints ls of_style[j] dt 1 title name[j] . ', one iteration each'
unset multiplot
