# make: Rocq (Coq 8.16 or later) proves everything.   make check: coqchk, a separate program, checks it again.
all:
	@command -v coqc >/dev/null || { echo 'Rocq is missing: apt-get install coq, or opam install rocq-prover'; exit 1; }
	@coq_makefile -f _CoqProject -o CoqMakefile
	$(MAKE) -f CoqMakefile
check: all
	coqchk -silent -o {{where}} {{libraries}}
.PHONY: all check
