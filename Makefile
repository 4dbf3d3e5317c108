# Lithe: the commands that people type. Each one installs what is missing, configures and builds as needed.

BUILD := build/release
JOBS  ?= $(shell nproc)

.PHONY: check-debug check-asan check-gpl-off check-clang
.PHONY: build demo test check lint bench fuzz install clean bootstrap bootstrap-dev

build: bootstrap
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

demo: build
	$(BUILD)/lithe demo gallery -o out/demo

# All but the slow tests, on the release build.
test: build
	cd $(BUILD) && ctest --output-on-failure -j $(JOBS) -LE slow

# What runs before an issue is closed: every build that we support, and the linters.
check: test lint check-debug check-asan check-gpl-off check-clang

check-debug check-asan check-gpl-off check-clang: check-%: bootstrap-dev
	cmake --preset $*
	cmake --build --preset $* -j $(JOBS)
	cd build/$* && ctest --output-on-failure -j $(JOBS) -LE slow

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

bootstrap-dev:
	@tools/bootstrap.sh build dev
