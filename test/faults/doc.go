// Package faults breaks a real cluster under a running test, part by part and phase by phase, and holds linerate to what it then says.
//
//	     starting        warm-up        ramping        confirming
//	────────┬───────────────┬──────────────┬───────────────┬──────────▶ a LoadTest of a device that forwards 10 000 packets/s
//	        └───────────────┴──────┬───────┴───────────────┘
//	                             fault: kill -9 of a process, a pod deleted, a cable pulled, a node cut off
//
// Each row of the table (rows) is one fault in one phase, with what the status must say of it. After each: the status says that; nothing is
// sent any more; no pod, device or object is left that isn't the result's; no figure is of a time in which the fault acted; and the same test, run again,
// gives the answer that is known. Which phase a test is in is read from its runner's log, on the node: it tells at once, and also
// while there is no API server.
//
//	go test -count=1 -timeout 30m ./test/faults                            # the rows that stand for the others, as CI does
//	go test -count=1 -timeout 90m ./test/faults -all -table docs/reliability.md
//	go test -count=1 -timeout 60m ./test/faults -run TestSoak -soak 50
//	go test -count=1 ./test/faults -keep -run 'TestFaults/the_operator' -v # the cluster stays up, and the next -keep takes it again
package faults
