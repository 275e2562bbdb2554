# Pictures on a sheet, with what their colours mean. Set by the program: folder and list (a .tsv of picture and caption),
# count, across (pictures in a row; 0: by their count), width and height of a picture (px), label of the colours ('': they
# have no scale), least and scale (the ends of theirs), grid (m between the lines on the ground), colours (of a palette),
# target, style.
load style
n = int(count)
w = int(width)
h = int(height)
columns = int(across) > 0 ? int(across) : n <= 3 ? n : n == 4 ? 2 : n <= 9 ? 3 : 4
rows = ceil(n / (1.0 * columns))
foot = 90
total_w = columns * w
total_h = rows * (h + 44) + foot
set terminal pngcairo size total_w, total_h font 'DejaVu Sans,20' enhanced
set output target
array picture[n]
array caption[n]
stats list using (picture[int($0) + 1] = strcol(1), caption[int($0) + 1] = strcol(2), 0) nooutput
unset key
unset border
unset tics
unset grid
unset colorbox
set lmargin 0
set rmargin 0
set tmargin 0
set bmargin 0
set multiplot
do for [i=1:n] {
    column = (i - 1) % columns
    row = (i - 1) / columns
    left = 1.0 * column * w / total_w
    top = 1 - 1.0 * row * (h + 44) / total_h
    set size 1.0 * w / total_w, 1.0 * h / total_h
    set origin left, top - 1.0 * (h + 40) / total_h
    set label 1 caption[i] at screen left + 0.5 * w / total_w, screen top - 22.0 / total_h center noenhanced
    set xrange [-0.5 : w - 0.5]
    set yrange [-0.5 : h - 0.5]
    plot folder . '/' . picture[i] binary filetype=png with rgbimage
    unset label 1
}
# The last line: the scale of colours, and that of lengths.
bar = 420.0
set size 1, 1.0 * foot / total_h
set origin 0, 0
set label 2 sprintf('grid on the ground: %s m', grid) at screen 1 - 20.0 / total_w, screen 0.5 * foot / total_h right noenhanced
low = real(least)
most = real(scale)
if (strlen(label) > 0) {
    eval 'set palette defined (' . colours . ')'
    set cbrange [low:most]
    set colorbox user horizontal origin screen 20.0 / total_w, screen 52.0 / total_h size screen bar / total_w, screen 20.0 / total_h
    set cbtics out nomirror scale 0.5 font ',17' offset 0, 0.3 (low, (low + most) / 2, most)
    set label 3 label at screen (bar + 44.0) / total_w, screen 60.0 / total_h left
    set xrange [0:1]
    set yrange [0:1]
    plot '+' using 1:(-1):(low) with points palette pointtype 0
} else {
    set xrange [0:1]
    set yrange [0:1]
    plot -1
}
unset multiplot
