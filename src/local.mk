noinst_LIBRARIES += %D%/libpystill.a
%C%_libpystill_a_SOURCES = \
	include/pystill/abi.h \
	include/pystill/access.h \
	include/pystill/arena.h \
	include/pystill/base.h \
	include/pystill/capture.h \
	include/pystill/cmd.h \
	include/pystill/elf.h \
	include/pystill/error.h \
	include/pystill/hash.h \
	include/pystill/json.h \
	include/pystill/maps.h \
	include/pystill/mem.h \
	include/pystill/names.h \
	include/pystill/note.h \
	include/pystill/nspace.h \
	include/pystill/opt.h \
	include/pystill/out.h \
	include/pystill/procfs.h \
	include/pystill/profile.h \
	include/pystill/ptrace.h \
	include/pystill/python.h \
	include/pystill/sample.h \
	include/pystill/sampler.h \
	include/pystill/snapshot.h \
	include/pystill/target.h \
	include/pystill/utf8.h \
	include/pystill/view.h \
	include/pystill/writer.h \
	%D%/base/arena.c \
	%D%/base/base.c \
	%D%/base/error.c \
	%D%/base/hash.c \
	%D%/base/json.c \
	%D%/base/names.c \
	%D%/base/note.c \
	%D%/base/utf8.c \
	%D%/profile/capture.c \
	%D%/profile/internal.h \
	%D%/profile/profile.c \
	%D%/profile/reader.c \
	%D%/profile/sampler.c \
	%D%/profile/snapshot.c \
	%D%/python/code.c \
	%D%/python/discover.c \
	%D%/python/internal.h \
	%D%/python/name.c \
	%D%/python/python.c \
	%D%/python/thread.c \
	%D%/target/access.c \
	%D%/target/elf.c \
	%D%/target/maps.c \
	%D%/target/mem.c \
	%D%/target/nspace.c \
	%D%/target/procfs.c \
	%D%/target/ptrace.c \
	%D%/target/target.c \
	%D%/target/view.c \
	%D%/ui/cmd-pyflame.c \
	%D%/ui/opt.c \
	%D%/ui/opts.c \
	%D%/ui/say.c \
	%D%/ui/say.h \
	%D%/ui/table.c \
	%D%/writers/flamechart.c \
	%D%/writers/folded.c \
	%D%/writers/line.c \
	%D%/writers/line.h \
	%D%/writers/out.c \
	%D%/writers/stacks.c \
	%D%/writers/table.c

bin_PROGRAMS += %D%/pystill
%C%_pystill_SOURCES = %D%/main.c
%C%_pystill_LDADD = %D%/libpystill.a $(LIBELF_LIBS) -lm
