#pragma once

/// The version of this copy of Lithe, as in "1.2.3". The build reads it from here.
#define LITHE_VERSION "0.1.0"
