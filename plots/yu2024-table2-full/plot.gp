load style
set output out . '/yu2024-table2-full.png'
set terminal pngcairo size 1300,600 font 'DejaVu Sans,14'
set title (quick eq '' ? "a frame at the paper's number of particles" : 'a frame of some 2,000 particles (quick)')
set ylabel 'time of a frame, s'
set logscale y
set yrange [0.01:10000]
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.85
set boxwidth 0.9
set key top right reverse Left
set xtics nomirror scale 0 rotate by -20
set bmargin 5
plot data . '/frames.tsv' every ::1 using 2:xticlabels(1) lc rgb '#c9c9c9' title 'paper, RTX 4090', \
     '' every ::1 using 3 lc rgb '#1b3a6b' title 'xpbi, two cores of a CPU'
