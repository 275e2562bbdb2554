# The look of every picture: readable without colour (each line has its own dash and point), thin grid, open frame.
# A plot.gp loads this first and then sets terminal and output of its own where the default size does not fit.
set encoding utf8
set datafile separator tab
set terminal pngcairo size 1200,800 font 'DejaVu Sans,15' linewidth 1.4
set border 3 linewidth 1 linecolor rgb 'gray20'
set tics nomirror out scale 0.6
set grid linecolor rgb 'gray88' linewidth 0.7 dashtype 1
set key noopaque samplen 3 spacing 1.15
set style line 1 linecolor rgb '#1b3a6b' linewidth 2 dashtype 1 pointtype 7 pointsize 0.9
set style line 2 linecolor rgb '#c2571a' linewidth 2 dashtype 2 pointtype 5 pointsize 0.9
set style line 3 linecolor rgb '#2e7d4f' linewidth 2 dashtype 4 pointtype 9 pointsize 1.0
set style line 4 linecolor rgb '#8a3a8f' linewidth 2 dashtype 3 pointtype 13 pointsize 1.1
set style line 5 linecolor rgb '#6b6b6b' linewidth 2 dashtype 5 pointtype 4 pointsize 0.9
set style line 6 linecolor rgb '#000000' linewidth 2 dashtype (12,4,2,4,2,4) pointtype 6 pointsize 0.9
# 17325 as '17,325', for titles that say the numbers of the runs (of --quick others than of the full ones).
number(n) = n < 1000 ? sprintf('%d', n) : sprintf('%d,%03d', int(n) / 1000, int(n) % 1000)
