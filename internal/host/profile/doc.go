// Package profile samples what processors run: a clock of the kernel's (perf_event's, which needs no hardware counters)
// interrupts each processor about a thousand times a second, and a program in the kernel (kernel/sample.c) counts the
// stack that it finds. Stop names the functions, by /proc/kallsyms and the programs' own symbols, and folds the stacks.
//
//	clock ─▶ kernel/sample.c ─▶ counts of (process, kernel stack, user stack) ─▶ Stop: names ─▶ "router;main.run;…" 41
//
// What runs with interrupts off is counted where they are turned on again, since the clock is an interrupt.
package profile
