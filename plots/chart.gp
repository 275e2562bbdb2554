# One chart of `pbdbench plot CASE`: x against one column for each value of --by. Set by the program: file (a .tsv with a
# header), columns (how many series), xname, yname, heading, terminal, logs, target.
load style
eval 'set terminal ' . terminal
set output target
set datafile missing 'nan'
set title heading noenhanced
set xlabel xname noenhanced
set ylabel yname noenhanced
set key outside top center horizontal noenhanced
if (strstrt(logs, 'x')) { set logscale x }
if (strstrt(logs, 'y')) { set logscale y }
plot for [i=2:columns+1] file using 1:i with linespoints ls ((i - 2) % 6 + 1) title columnheader(i) noenhanced
