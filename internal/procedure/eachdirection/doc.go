// Package eachdirection finds the limit of each direction by itself: one ramp or search after another, each of one direction, while the others are held at a load that does not vary; and in the
// end it holds all that was found at once. It is pure, as the procedure inside it is.
//
//	west→east ┤warm-up ┌┐┌─                                 ┌── limit of west→east
//	          │   ┌──┐┌┘└┘                                  │
//	          └───┘  └┘        └──── othersAt ──────────────┘
//	east→west ┤warm-up                  ┌┐┌─                ┌── limit of east→west
//	          │   ┌──┐                 ┌┘└┘                 │
//	          └───┘  └── othersAt ─────┘      └─────────────┘
//	               the ramp of one ──▶ of the next ──▶ all at once
//
// A limit is a direction's alone, as the device had nothing else to do, or no more than othersAt: what is left of it when all are at their limits is told beside
// it, and changes none. docs/search.md has the rules and their reasons.
package eachdirection
