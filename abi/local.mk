src_libpystill_a_SOURCES += \
	%D%/frames.c \
	%D%/gil.c \
	%D%/lines.c \
	%D%/offsets.c \
	%D%/py27.c \
	%D%/py36.c \
	%D%/py37.c \
	%D%/py38.c \
	%D%/py39.c \
	%D%/py310.c \
	%D%/py311.c \
	%D%/py312.c \
	%D%/py313.c \
	%D%/py314.c \
	%D%/py315.c \
	%D%/table.c \
	%D%/text.c \
	%D%/version.c
