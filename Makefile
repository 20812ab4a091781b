# Everything that a user or a developer does here. `make` alone says what there is.
.DEFAULT_GOAL := help
.PHONY: help setup demo kernel wheel test test-quick test-wheel lint fmt bench bench-cc bench-aqm bench-page bench-sweeps fuzz soak audit clean docs gallery study-ticks study-nemc study-ewan study-pacing study-parallel-routes study-sim-vs-live study-three-clocks study-algorithms study-netem-models study-delay-deviation study-fit study-teragrid study-longcut study-faults

UV := $(shell command -v uv 2>/dev/null || echo .tools/bin/uv)

help: ## this text
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 24

setup: ## install what is needed, build, and say what is missing
	@tools/setup

demo: setup ## run the three-cluster scenario on real programs, and write its report
	@$(UV) run --no-sync longhaul run scenarios/three-clusters.yaml

test: ## everything that must hold before a change lands
	@tools/setup --tests
	@tools/check

test-quick: ## the fast tests, for the inner loop: no live runs, no browser
	@tools/setup --tests
	@tools/check --quick

kernel: setup ## a guest kernel for runs on the virtual clock, in ~/.cache/longhaul/kernels; 16 minutes of CPU time; needs flex, bison and bc
	@$(UV) run --no-sync longhaul kernel build $(ARGS)

wheel: setup ## dist/longhaul-*.whl, for pip on machines without Rust: any Linux with glibc 2.17 and Python 3.11; some minutes
	@tools/wheel

test-wheel: wheel ## install the wheel with pip, as this user and as nobody, and run it there
	@LONGHAUL_WHEEL="$$(ls $(CURDIR)/dist/longhaul-*.whl)" $(UV) run --no-sync pytest tests/installation

lint: setup ## formatting, lints, types and layers, without the tests
	@tools/check --no-tests

fmt: setup ## format everything
	@cargo fmt --all
	@$(UV) run --no-sync ruff check --fix --quiet . ; $(UV) run --no-sync ruff format --quiet .

bench: setup ## accuracy and speed against a direct veth, limits, ns-3, ns-2 and proxies, into bench/*.json and docs/benchmarks.md
	@$(UV) run --no-sync python bench/live.py
	@$(UV) run --no-sync python bench/ports.py
	@$(UV) run --no-sync python bench/link.py
	@$(UV) run --no-sync python bench/sim.py
	@$(UV) run --no-sync python bench/shards.py
	@$(UV) run --no-sync python bench/machines.py
	@$(UV) run --no-sync python bench/commands.py
	@$(UV) run --no-sync python bench/captures.py
	@$(UV) run --no-sync python bench/workloads.py
	@$(UV) run --no-sync python bench/relay.py
	@$(UV) run --no-sync python bench/virtual.py
	@$(UV) run --no-sync python bench/segment_loss.py
	@$(UV) run --no-sync python studies/documents.py

docs: setup ## numbers and tables of documents from bench/*.json and studies/*/results; then the site, in target/site
	@$(UV) run --no-sync python studies/documents.py
	@$(UV) run --no-sync zensical build --clean --strict
	@echo "target/site/index.html; with search: python3 -m http.server --directory target/site"

gallery: ## the pictures of docs/gallery.md, from real runs in Chromium; four minutes
	@tools/setup --tests
	@npm --prefix web run --silent gallery

study-ticks: setup ## delays in emulators with a ticking clock (NemC, figure 3), live; two minutes
	@$(UV) run --no-sync longhaul study run ticks $(ARGS)

study-nemc: setup ## messages and parallel programs on a cluster of clusters (NemC, figures 3 to 7), live and simulated; an hour and a half
	@$(UV) run --no-sync longhaul study run nemc $(ARGS)

study-ewan: setup ## buffers, limits and sources over a gigabit and 100 ms (eWAN, figures 4 to 11, table III), simulated and live; a quarter of an hour
	@$(UV) run --no-sync longhaul study run ewan $(ARGS)

study-pacing: setup ## what bursts cost on a long fat path (PFLDnet 2005), simulated and live; ten minutes
	@$(UV) run --no-sync longhaul study run pacing $(ARGS)

study-parallel-routes: setup ## what reordering over routes costs (parallel routes, figures 5 to 8), simulated and live; half an hour
	@$(UV) run --no-sync longhaul study run parallel-routes $(ARGS)

study-sim-vs-live: setup ## simulated transfers compared with real ones on five paths; twelve minutes
	@$(UV) run --no-sync longhaul study run sim-vs-live $(ARGS)

study-three-clocks: setup ## eight networks simulated, on the virtual and on the real clock; needs a guest kernel; twenty minutes
	@$(UV) run --no-sync longhaul study run three-clocks $(ARGS)

study-algorithms: setup ## sixteen congestion controls on twelve paths, simulated and of Linux on the virtual clock; needs a guest kernel; an hour and a half
	@$(UV) run --no-sync longhaul study run algorithms $(ARGS)

study-netem-models: setup ## the link models beside netem, tbf and queueing disciplines on the virtual clock; needs a guest kernel; two minutes
	@$(UV) run --no-sync longhaul study run netem-models $(ARGS)

study-delay-deviation: setup ## by how much each packet's delay deviates (MoonEm's metric), on the virtual clock beside netem, and live; needs a guest kernel; seven minutes
	@$(UV) run --no-sync longhaul study run delay-deviation $(ARGS)

study-teragrid: setup ## measured losses and a dozen TCPs from San Diego to Purdue: 1,600 trials, an hour; ARGS=--full for nine readings, two hours
	@$(UV) run --no-sync longhaul study run teragrid $(ARGS)

study-longcut: setup ## traces of a measured WAN, live, relayed and simulated (Longcut, figures 4 to 7, tables I to VI); half an hour
	@$(UV) run --no-sync longhaul study run longcut $(ARGS)

study-fit: setup ## which distribution the losses measured on TeraGrid follow, 200 times; six minutes
	@$(UV) run --no-sync longhaul study run fitting $(ARGS)

study-faults: setup ## 200 live runs with a fault each at a random moment: kill, stop, memory, disk, sockets; a quarter of an hour
	@$(UV) run --no-sync python studies/faults/fault_campaign.py $(ARGS)

bench-cc: setup ## six congestion controls by the scenarios of the common TCP evaluation suite, live and simulated; two hours, ARGS="--repeat 2" for an hour and a quarter
	@$(UV) run --no-sync longhaul benchmark-cc reno cubic bbr htcp highspeed scalable $(ARGS)

bench-aqm: setup ## five queue disciplines by the scenarios of RFC 7928, live and simulated; more than two hours, ARGS=--sim for five minutes
	@$(UV) run --no-sync longhaul benchmark-aqm $(ARGS)

bench-page: setup ## what the page costs the browser: first paint, frames, half an hour of 500 hosts (or MINUTES=n)
	@tools/setup --tests
	@$(UV) run --no-sync python bench/page.py

bench-sweeps: setup ## what a sweep adds to its runs, here and on Slurm if it is installed; three minutes
	@$(UV) run --no-sync python bench/sweeps.py $$(PATH="$$PATH:/usr/sbin" command -v slurmctld >/dev/null && echo --slurm)

MINUTES ?= 1
fuzz: setup ## inputs that break a parser, guided by coverage, and random scenarios; MINUTES=n for each of nine targets
	@tools/fuzz $(MINUTES) $(ARGS)

HOURS ?= 1
soak: setup ## random runs and faults for HOURS=n beside a page and a network that stay up; reports memory and files that grow
	@$(UV) run --no-sync python studies/soak/soak.py --hours $(HOURS) $(ARGS)

sanitize: ## Rust tests under Miri, and under the sanitizers of addresses and threads; needs a nightly tool chain
	@tools/sanitize $(ARGS)

audit: ## known vulnerabilities of crates, Python and npm packages, licences of crates; names databases that it could not ask
	@tools/setup --tests
	@tools/audit

clean: ## remove what was built; runs/ stays
	@rm -rf target dist .venv .tools python/longhaul/*.so
