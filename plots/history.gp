# One history: a point a build, its levels, and the commits at its steps. Set by the program: file (a .tsv of build, value,
# level, step), yname, heading, terminal, target.
load style
eval 'set terminal ' . terminal
set output target
set title heading noenhanced
set xlabel 'build, by its first run'
set ylabel yname noenhanced
set key outside top right horizontal
set xrange [0.5:*]
set offsets 0, 0.5, graph 0.15, graph 0.05
plot file using 1:2 skip 1 with points ls 5 title 'median of a build', \
     file using 1:3 skip 1 with steps ls 1 title 'level', \
     file using 1:2:(strlen(strcol(4)) ? strcol(4) : '') skip 1 with labels noenhanced rotate by 90 left offset 0,1 font ',12' notitle
