// Package faults breaks a real cluster under a running test, part by part and phase by phase, and holds
// linerate to what it then says.
//
//	     starting        warm-up        ramping        confirming
//	────────┬───────────────┬──────────────┬───────────────┬──────────▶ a LoadTest of a device that forwards 10 000 packets/s
//	        └───────────────┴──────┬───────┴───────────────┘
//	                             fault: kill -9 of a process, a pod deleted, a cable pulled, a node cut off
//
// Each row of the table (rows) is one fault in one phase, with what the status must say of it. Each is played
// once, and holds linerate to
//
//	on any machine    the status says what the row expects; no verdict, figure or window claims what isn't so of the device; no figure is of a time in
//	                  which the fault acted; nothing is sent any more; no pod, device or object is left that isn't the result's
//	on a calm machine a test that the fault left able to measure, and the same test made anew, have the answer that is known
//
// Where an answer is missing, test/rigs/calm says whether the machine took away what the test needed. Then the
// row is told as disturbed; else it is wrong. Which phase a test is in is read from its runner's log, on the
// node: it tells at once, and also while there is no API server.
//
//	go test ./test/cluster/faults                                                                  # the table before it is played, and how it is written: no cluster
//	go test -tags full -count=1 -timeout 90m ./test/cluster/faults -table docs/measured/reliability.md      # everything, and publish it
//	go test -tags full -count=1 -timeout 90m ./test/cluster/faults -run TestFaults -v              # each row
//	go test -tags full -count=1 -timeout 60m ./test/cluster/faults -run TestSoak -soak 50 -v
//	go test -tags full -count=1 ./test/cluster/faults -keep -run 'TestFaults/the_operator' -v      # the cluster stays up, and the next -keep takes it again
package faults
