# cmake -DSOURCE=... -DHEADER=... -P git_commit.cmake: write the commit that is being built, touching the file only when it changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty OUTPUT_VARIABLE commit
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#pragma once\n#define LITHE_COMMIT \"@commit@\"\n" @ONLY)
