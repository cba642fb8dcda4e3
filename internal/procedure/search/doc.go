// Package search finds, for each of several goals, the highest load at which a device meets the goal, such as NDR, PDR,
// and others that a lab publishes. Package goals decides which load is tried next, and what trials show of a goal. This
// package turns its questions into steps and its findings into conclusions.
//
//	            lost more than the goal allows
//	load  ──────────┬──────────────────────────▶
//	  lower bound ──┤├── upper bound     at most the goal's width apart
//	     NDR        ││
//	  lower bound ──┼┼─┤├── upper bound
//	     PDR
//
// Every step is a trial, which is sent, drained and counted by itself. A trial that was disturbed says nothing and is
// repeated, within bounds.
package search
