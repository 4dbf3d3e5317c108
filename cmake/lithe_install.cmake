# see lithe_install later
