# Turns text file IN into header OUT with `static const char NAME[]`.
file(READ ${IN} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
get_filename_component(from ${IN} NAME)
file(WRITE ${OUT} "/* Made from ${from} by cmake/embed.cmake. */\nstatic const char ${NAME}[] =\n    \"${text}\";\n")
