# What stands below the pictures of a film. Set by the program: list (a .tsv of number and caption of each side), count, width
# and height (px), label of the colours ('': they have no scale), least and scale (the ends of theirs), colours (of a
# palette), target.
load style
n = int(count)
w = int(width)
h = int(height)
set terminal pngcairo size w, h font 'DejaVu Sans,17' enhanced
set output target
array caption[n]
set datafile separator '\t'
stats list using (caption[int($0) + 1] = strcol(2), 0) nooutput
unset key
unset border
unset tics
unset grid
unset colorbox
set lmargin 0
set rmargin 0
set tmargin 0
set bmargin 0
do for [i=1:n] {
    set label i caption[i] at screen (i - 0.5) / n, screen 1 - 20.0 / h center noenhanced
}
set xrange [0:1]
set yrange [0:1]
if (strlen(label) > 0) {
    eval 'set palette defined (' . colours . ')'
    low = real(least)
    most = real(scale)
    set cbrange [low:most]
    set colorbox user horizontal origin screen 30.0 / w, screen 34.0 / h size screen 420.0 / w, screen 18.0 / h
    set cbtics out nomirror scale 0.5 font ',15' offset 0, 0.3 (low, (low + most) / 2, most)
    set label n + 1 label at screen 474.0 / w, screen 42.0 / h left
    plot '+' using 1:(-1):(low) with points palette pointtype 0
} else {
    plot -1
}
