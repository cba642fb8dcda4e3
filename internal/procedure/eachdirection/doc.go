// Package eachdirection finds the limit of each direction by itself. One ramp or search after another varies one
// direction, while the others are held at a constant load. In the end, the package holds all that was found at once. It
// is pure, as the procedure inside it is.
//
//	west→east ┤warm-up ┌┐┌─                                 ┌── limit of west→east
//	          │   ┌──┐┌┘└┘                                  │
//	          └───┘  └┘        └─── otherLoad ──────────────┘
//	east→west ┤warm-up                  ┌┐┌─                ┌── limit of east→west
//	          │   ┌──┐                 ┌┘└┘                 │
//	          └───┘  └── otherLoad ────┘      └─────────────┘
//	               the ramp of one ──▶ of the next ──▶ all at once
//
// A limit is a direction's alone, as the device had nothing else to do, or no more than otherLoad. What is left of the
// limit when all directions are at their limits is reported beside it, and changes none. docs/search.md has the rules
// and their reasons.
package eachdirection
