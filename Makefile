# Lithe: the commands that people type. Each one installs what is missing, configures and builds as needed.

BUILD := build/release
JOBS  ?= $(shell nproc)

.PHONY: check-debug check-asan check-gpl-off check-clang
.PHONY: build demo test clients check lint bench fuzz install clean bootstrap bootstrap-test bootstrap-dev bootstrap-clients

build: bootstrap
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

demo: build
	$(BUILD)/lithe demo drop -o out/demo
	$(BUILD)/lithe demo gallery -o out/demo

# All but the slow tests, on the release build.
test: bootstrap-test build
	cd $(BUILD) && ctest --output-on-failure -j $(JOBS) -LE slow

# What other programs make of our files: gltf-validator, Blender, ParaView.
clients: build bootstrap-clients
	cd $(BUILD) && ctest --verbose -R '^clients\.'

# What runs before an issue is closed: every build that we support, and the linters.
check: test lint check-debug check-asan check-gpl-off check-clang

# Tests of long runs and of whole commands say little more with assertions or a sanitizer, and would take hours with them.
LONG := ^(cli|clients|viewer|report|consumer)\.|^consumer$$|OfTheTable|EveryOneChanges|EveryRig|AtEveryResolution|AtEverySize|VolumeDoes|KeepAllMomentum|BentBeams|TwoHundred
check-debug check-asan: SKIP := -E '$(LONG)'
check-debug check-asan check-gpl-off check-clang: check-%: bootstrap-dev
	cmake --preset $*
	cmake --build --preset $* -j $(JOBS)
	cd build/$* && ctest --output-on-failure -j $(JOBS) -LE slow $(SKIP)

lint: bootstrap-dev
	tools/lint.sh

bench: build
	$(BUILD)/lithe bench

# One minute for each reader of files.
FUZZ_SECONDS ?= 60
fuzz: bootstrap-dev
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS)
	tools/fuzz.sh $(FUZZ_SECONDS)

PREFIX ?= /usr/local
install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build out

bootstrap:
	@tools/bootstrap.sh build

bootstrap-test:
	@tools/bootstrap.sh test

bootstrap-dev:
	@tools/bootstrap.sh build dev

bootstrap-clients:
	@tools/bootstrap.sh clients
