#!/usr/bin/env bash
# Installs what Lithe needs and is missing, from Debian's packages; does nothing when all is there.
#   tools/bootstrap.sh build          to build and run
#   tools/bootstrap.sh build test     also what `make test` needs: a browser that opens our reports, a
#                                     Bullet that loads our files, and that `lithe bench` runs beside us; and where Node
#                                     20 is there, from npm (into build/viewer) what the tests of the viewer need
#   tools/bootstrap.sh build dev      also what `make check`, `make lint` and `make fuzz` need
#   tools/bootstrap.sh build clients  also the programs that `make clients` opens our files with, and from npm (into
#                                     build/clients) gltf-validator
set -euo pipefail
cd "$(dirname "$0")/.."

build=(
  g++ make cmake ninja-build ccache mold pkg-config python3
  libeigen3-dev libtbb-dev libembree-dev libfmt-dev zlib1g-dev nlohmann-json3-dev libmeshoptimizer-dev libcli11-dev libtomlplusplus-dev
  libstb-dev libmetis-dev libhdf5-dev
  libsuitesparse-dev libopenblas-pthread-dev libcgal-dev libgmp-dev libmpfr-dev libboost-dev
  libgtest-dev libgmock-dev librapidcheck-dev
  ffmpeg
)
test=(chromium libbullet-dev)
clients=(blender python3-numpy python3-paraview xvfb xauth)
viewer=(playwright-core@1.65.0 typescript@5.9.3)
validator=gltf-validator@2.0.0-dev.3.10
dev=(clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev llvm-19)

install_validator() {
  [ -e build/clients/node_modules/gltf-validator ] ||
    npm install --silent --no-audit --no-fund --prefix build/clients "$validator"
}

# Without Node, or without npm's registry, the tests of the viewer are skipped: that is no reason to stop.
install_viewer() {
  command -v node >/dev/null && command -v npm >/dev/null || return 0
  local version
  version=$(node --version | sed 's/v\([0-9]*\).*/\1/')
  [ "${version:-0}" -ge 20 ] || return 0
  [ -e build/viewer/node_modules/playwright-core ] && [ -e build/viewer/node_modules/typescript ] ||
    npm install --silent --no-audit --no-fund --prefix build/viewer "${viewer[@]}" ||
    echo "bootstrap: npm could not install ${viewer[*]}; the tests of the viewer will be skipped" >&2
}

wanted=()
last=true
for group in "${@:-build}"; do
  case $group in
    build) wanted+=("${build[@]}") ;;
    test)
      wanted+=("${test[@]}")
      last=install_viewer
      ;;
    dev) wanted+=("${dev[@]}") ;;
    clients)
      wanted+=("${clients[@]}")
      command -v npm >/dev/null || wanted+=(nodejs npm)
      last=install_validator
      ;;
    *) echo "bootstrap: unknown group '$group'; use build, test, dev or clients" >&2; exit 2 ;;
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
if [ ${#missing[@]} -eq 0 ]; then
  $last
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "bootstrap: run as root, or install sudo, or install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "bootstrap: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get -qq update
"${as_root[@]}" apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=600 install "${missing[@]}"
$last
