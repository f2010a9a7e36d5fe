# SPDX-License-Identifier: BSD-3-Clause
# Draws docs/navier_stokes.png from the files that -profiles flow writes:
#   gnuplot cases/navier_stokes/profiles.gp
set terminal pngcairo size 1600,760 font ",22" linewidth 2
set output "docs/navier_stokes.png"
set multiplot layout 1,2 margins 0.07,0.985,0.13,0.9 spacing 0.1,0
numbers = "100 400 1000"
colours = "#0072b2 #d55e00 #009e73"
set grid lc rgb "#dddddd"
set key spacing 1.1
set title "u along x = 1/2"
set xlabel "u"
set ylabel "y" rotate by 0
set key bottom right
plot for [k=1:3] "flow-".word(numbers, k).".txt" index 0 using 2:1 with lines \
       lc rgb word(colours, k) title "Re = ".word(numbers, k), \
     for [k=1:3] "flow-".word(numbers, k).".txt" index 2 using 2:1 with points pt 6 ps 2 \
       lc rgb word(colours, k) notitle, \
     NaN with points pt 6 ps 2 lc rgb "black" title "Ghia et al."
set title "v along y = 1/2"
set xlabel "x"
set ylabel "v"
set key top right
plot for [k=1:3] "flow-".word(numbers, k).".txt" index 1 using 1:2 with lines \
       lc rgb word(colours, k) notitle, \
     for [k=1:3] "flow-".word(numbers, k).".txt" index 3 \
       using 1:($3 == 1 ? NaN : $2) with points pt 6 ps 2 \
       lc rgb word(colours, k) notitle, \
     "flow-400.txt" index 3 using 1:($3 == 1 ? $2 : NaN) with points pt 2 ps 2.5 \
       lc rgb word(colours, 2) title "misprint, Re = 400"
