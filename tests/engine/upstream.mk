# SQLite's own test program over two builds of SQLite: `make -f upstream.mk fixture-NAME`, in its source tree once that is
# configured. Flags and sources of the program are those of the tree's own makefile; the builds of SQLite are all that differs:
# fixture-plain has the tree's own, every other one that with computed goto (sqlite3-goto.c) and our VFS as its default
# (SHIM: the folder of its sources, SHIM_FLAGS: what is chosen of it).
include Makefile

vpath %.c $(sort $(dir $(TESTSRC)))
theirs := $(addprefix objects/,$(notdir $(TESTSRC:.c=.o)) tclsqlite-ex.o)
compile = $(T.link.tcl) -DSQLITE_NO_SYNC=1 $(TESTFIXTURE_FLAGS)
libraries = $$TCL_LIB_SPEC $$TCL_INCLUDE_SPEC $$TCL_LIBS $(LDFLAGS.libsqlite3)

$(theirs): objects/%.o: %.c .tclenv.sh
	@mkdir -p objects
	$(compile) -O0 $$TCL_INCLUDE_SPEC -c $< -o $@

objects/sqlite3-plain.o: sqlite3.c .tclenv.sh
	@mkdir -p objects
	$(compile) -c $< -o $@

objects/sqlite3-goto.o: sqlite3-goto.c .tclenv.sh
	@mkdir -p objects
	$(compile) -DSQLITE_EXTRA_INIT=shim_register -c $< -o $@

fixture-plain: objects/sqlite3-plain.o $(theirs)
	$(compile) -o $@ $^ $(libraries)

fixture-%: objects/sqlite3-goto.o $(theirs) FORCE
	$(compile) -I$(SHIM) $(SHIM_FLAGS) -o $@ $(filter %.o,$^) $(SHIM)/*.c $(libraries)

.PHONY: FORCE
