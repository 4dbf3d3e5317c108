#!/usr/bin/env bash
# Installs what Lithe needs and is missing, from Debian's packages; does nothing when all is there.
#   tools/bootstrap.sh build        to build, test and run
#   tools/bootstrap.sh build dev    also what `make check`, `make lint` and `make fuzz` need
set -euo pipefail

build=(
  g++ make cmake ninja-build ccache mold pkg-config python3
  libeigen3-dev libtbb-dev libembree-dev libfmt-dev zlib1g-dev nlohmann-json3-dev libcli11-dev libtomlplusplus-dev
  libstb-dev libmetis-dev
  libsuitesparse-dev libopenblas-pthread-dev libcgal-dev libgmp-dev libmpfr-dev libboost-dev
  libgtest-dev libgmock-dev librapidcheck-dev
  ffmpeg
)
dev=(clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev llvm-19)

wanted=()
for group in "${@:-build}"; do
  case $group in
    build) wanted+=("${build[@]}") ;;
    dev) wanted+=("${dev[@]}") ;;
    *) echo "bootstrap: unknown group '$group'; use build or dev" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "bootstrap: this is not a Debian system; install by hand what provides: ${wanted[*]}" >&2
  exit 0
fi

installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' | awk '$1 == "ii" { print $2 }')
missing=()
for package in "${wanted[@]}"; do
  grep -qxF "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "bootstrap: run as root, or install sudo, or install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "bootstrap: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get -qq update
"${as_root[@]}" apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=600 install "${missing[@]}"
